package command

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// A completionCommand prints a completion script for a shell.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

// Help implements kong's HelpProvider.
func (completionCommand) Help() string {
	return `For bash, in ~/.bashrc:

    source <(agent completion bash)

For zsh, in ~/.zshrc, after compinit:

    source <(agent completion zsh)

For fish:

    agent completion fish > ~/.config/fish/completions/agent.fish`
}

// Run implements the command.
func (c *completionCommand) Run(p *program, k *kong.Kong) error {
	commands := completionEntries(k.Model.Node, "agent")
	script := map[string]func([]completionEntry) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Shell]
	_, err := fmt.Fprint(p.out, script(commands))
	return err
}

// A completionEntry is a command with its subcommands and flags.
type completionEntry struct {
	path     string // as in "agent feeds add"
	commands []*kong.Node
	flags    []*kong.Flag
}

// completionEntries returns the entries of a command and of all its subcommands.
func completionEntries(n *kong.Node, path string) []completionEntry {
	c := completionEntry{path: path}
	for _, group := range n.AllFlags(true) {
		c.flags = append(c.flags, group...)
	}
	var below []completionEntry
	for _, child := range n.Children {
		c.commands = append(c.commands, child)
		below = append(below, completionEntries(child, path+" "+child.Name)...)
	}
	return append([]completionEntry{c}, below...)
}

// commandSwitch returns shell code for bash and zsh that follows the typed words: $at is the current
// command's path, $word the next word.
func commandSwitch(commands []completionEntry) string {
	var paths []string
	for _, c := range commands[1:] {
		paths = append(paths, `"`+c.path+`"`)
	}
	return "\t\tcase \"$at $word\" in\n\t\t" + strings.Join(paths, "|") + ") at=\"$at $word\" ;;\n\t\tesac\n"
}

func bashScript(commands []completionEntry) string {
	var b strings.Builder
	b.WriteString("_agent() {\n\tlocal at=agent word words=\n\tfor word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n")
	b.WriteString(commandSwitch(commands))
	b.WriteString("\tdone\n\tcase \"$at\" in\n")
	for _, c := range commands {
		var words []string
		for _, child := range c.commands {
			words = append(words, child.Name)
		}
		for _, flag := range c.flags {
			words = append(words, "--"+flag.Name)
		}
		fmt.Fprintf(&b, "\t%q) words=%q ;;\n", c.path, strings.Join(words, " "))
	}
	b.WriteString("\tesac\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n")
	b.WriteString("complete -o default -F _agent agent\n")
	return b.String()
}

func zshScript(commands []completionEntry) string {
	var b strings.Builder
	b.WriteString("#compdef agent\n_agent() {\n\tlocal at=agent word\n\tlocal -a found\n\tfor word in ${words[2,CURRENT-1]}; do\n")
	b.WriteString(commandSwitch(commands))
	b.WriteString("\tdone\n\tcase \"$at\" in\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "\t%q) found=(", c.path)
		for _, child := range c.commands {
			fmt.Fprintf(&b, "\n\t\t%s", quoted(child.Name+":"+child.Help))
		}
		for _, flag := range c.flags {
			fmt.Fprintf(&b, "\n\t\t%s", quoted("--"+flag.Name+":"+flag.Help))
		}
		b.WriteString(") ;;\n")
	}
	b.WriteString("\tesac\n\t_describe agent found || _files\n}\ncompdef _agent agent\n")
	return b.String()
}

func fishScript(commands []completionEntry) string {
	var b strings.Builder
	for _, c := range commands {
		when := "__fish_use_subcommand"
		names := strings.Fields(c.path)[1:]
		if len(names) > 0 {
			parts := make([]string, len(names))
			for i, name := range names {
				parts[i] = "__fish_seen_subcommand_from " + name
			}
			when = strings.Join(parts, "; and ")
		}
		for _, child := range c.commands {
			fmt.Fprintf(&b, "complete -c agent -f -n %s -a %s -d %s\n", quoted(when), child.Name, quoted(child.Help))
		}
		for _, flag := range c.flags {
			fmt.Fprintf(&b, "complete -c agent -n %s -l %s -d %s\n", quoted(when), flag.Name, quoted(flag.Help))
		}
	}
	return b.String()
}

// quoted returns s as a single-quoted shell word.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
