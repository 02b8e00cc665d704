package deploy_test

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// release makes the files of a release of `git describe` with a small program in place of the agent, and returns their
// folder and the version in their names.
func release(t *testing.T, described string, targets ...string) (folder, version string) {
	t.Helper()
	need(t, "git", "bash")
	if err := exec.Command("git", "rev-parse", "HEAD").Run(); err != nil {
		t.Skip("SKIPPED, NOT TESTED: not in a git repository")
	}
	program, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: ", err)
	}
	folder = t.TempDir()
	programs := t.TempDir()
	for _, target := range targets {
		if err := os.WriteFile(filepath.Join(programs, "agent-"+target), program, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "LICENCES.md"), []byte("# Licences\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	output(t, "packages/build", described, programs, folder)
	made, err := filepath.Glob(filepath.Join(folder, "feedmesh-*-"+targets[0]+".*"))
	if err != nil || len(made) == 0 {
		t.Fatalf("no file of %s: %v", targets[0], err)
	}
	name, _, _ := strings.Cut(filepath.Base(made[0]), "-"+targets[0])
	return folder, strings.TrimPrefix(name, "feedmesh-")
}

func TestRelease_HasArchivesPackagesAndSums(t *testing.T) {
	t.Parallel()
	folder, version := release(t, "v1.2.3", "linux-amd64", "linux-arm64", "darwin-arm64", "windows-amd64")
	var names []string
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{
		"LICENCES.md", "SHA256SUMS", "feedmesh-1.2.3-darwin-arm64.tar.gz",
		"feedmesh-1.2.3-linux-amd64.deb", "feedmesh-1.2.3-linux-amd64.rpm", "feedmesh-1.2.3-linux-amd64.tar.gz",
		"feedmesh-1.2.3-linux-arm64.deb", "feedmesh-1.2.3-linux-arm64.rpm", "feedmesh-1.2.3-linux-arm64.tar.gz",
		"feedmesh-1.2.3-windows-amd64.zip",
	}
	if version != "1.2.3" || !slices.Equal(names, want) {
		t.Errorf("version %s with the files %q, want %q", version, names, want)
	}

	var sums strings.Builder
	for _, name := range want {
		if name == "SHA256SUMS" {
			continue
		}
		sum := sha256.Sum256([]byte(read(t, filepath.Join(folder, name))))
		sums.WriteString(hex.EncodeToString(sum[:]) + "  " + name + "\n")
	}
	if got := read(t, filepath.Join(folder, "SHA256SUMS")); got != sums.String() {
		t.Errorf("SHA256SUMS:\n%swant:\n%s", got, sums.String())
	}

	top := "feedmesh-1.2.3-linux-amd64/"
	listed := output(t, "tar", "-tvzf", filepath.Join(folder, "feedmesh-1.2.3-linux-amd64.tar.gz"))
	for _, file := range []string{"-rwxr-xr-x agent", "-rw-r--r-- LICENSE", "-rw-r--r-- NOTICE", "-rw-r--r-- LICENCES.md", "-rw-r--r-- README.md",
		"-rw-r--r-- CHANGELOG.md", "-rw-r--r-- docs/operations.md", "-rw-r--r-- deploy/systemd/agent.service"} {
		mode, path, _ := strings.Cut(file, " ")
		if !slices.ContainsFunc(strings.Split(listed, "\n"), func(line string) bool {
			return strings.HasPrefix(line, mode) && strings.HasSuffix(line, " "+top+path)
		}) {
			t.Errorf("the archive has no %s:\n%s", file, listed)
		}
	}
	windows, err := zip.OpenReader(filepath.Join(folder, "feedmesh-1.2.3-windows-amd64.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer windows.Close()
	if _, err := windows.Open("feedmesh-1.2.3-windows-amd64/agent.exe"); err != nil {
		t.Error(err)
	}
}

// versions are results of `git describe`, in the order of their commits.
var versions = []string{"0123abc", "v1.2.0-rc.1", "v1.2.0-rc.1-5-g0a1b2c3", "v1.2.0", "v1.2.0-3-gfedcba9", "v1.2.0-12-g0123456", "v1.2.0-12-g0123456-dirty"}

func TestPackages_VersionsSort(t *testing.T) {
	t.Parallel()
	need(t, "dpkg", "dpkg-deb")
	var deb, rpm []string
	for _, described := range versions {
		folder, version := release(t, described, "linux-amd64")
		name := filepath.Join(folder, "feedmesh-"+version+"-linux-amd64")
		deb = append(deb, strings.TrimSpace(output(t, "dpkg-deb", "--field", name+".deb", "Version")))
		if _, err := exec.LookPath("rpm"); err == nil {
			rpm = append(rpm, output(t, "rpm", "-qp", "--queryformat", "%{VERSION}", name+".rpm"))
		}
	}
	t.Logf("versions for dpkg %q, for rpm %q", deb, rpm)
	for i := 1; i < len(deb); i++ {
		output(t, "dpkg", "--validate-version", deb[i])
		if err := exec.Command("dpkg", "--compare-versions", deb[i-1], "lt", deb[i]).Run(); err != nil {
			t.Errorf("for dpkg %s is not less than %s", deb[i-1], deb[i])
		}
		if rpm != nil && strings.TrimSpace(output(t, "rpm", "--eval", `%{lua:print(rpm.vercmp("`+rpm[i-1]+`", "`+rpm[i]+`"))}`)) != "-1" {
			t.Errorf("for rpm %s is not less than %s", rpm[i-1], rpm[i])
		}
	}
	if rpm == nil {
		t.Log("SKIPPED, NOT TESTED: rpm is not installed")
	}
}

// packaged are the files of both packages, with their modes.
var packaged = []string{
	"drwx------ /etc/feedmesh", "-rw-r----- /etc/feedmesh/agent.env", "-rwxr-xr-x /usr/bin/feedmesh-agent",
	"-rw-r--r-- /usr/lib/systemd/system/feedmesh-agent.service", "-rw-r--r-- /usr/lib/sysusers.d/feedmesh.conf",
	"-rw-r--r-- /usr/share/doc/feedmesh/CHANGELOG.md", "-rw-r--r-- /usr/share/doc/feedmesh/LICENCES.md",
	"-rw-r--r-- /usr/share/doc/feedmesh/LICENSE", "-rw-r--r-- /usr/share/doc/feedmesh/README.md", "-rw-r--r-- /usr/share/doc/feedmesh/copyright",
}

// modesOf returns mode and path of each line of a long listing whose owner is root, in the order of the paths, without
// folders of other packages.
func modesOf(listing string) []string {
	var files []string
	for line := range strings.Lines(listing) {
		fields := strings.Fields(line)
		path := "/" + strings.Trim(strings.TrimPrefix(fields[len(fields)-1], "."), "/")
		if fields[0][0] == '-' || path == "/etc/feedmesh" {
			files = append(files, fields[0]+" "+path)
		}
	}
	slices.SortFunc(files, func(a, b string) int { return strings.Compare(a[11:], b[11:]) })
	return files
}

func TestDeb_FilesModesAndConffiles(t *testing.T) {
	t.Parallel()
	need(t, "dpkg-deb")
	folder, _ := release(t, "v1.2.3", "linux-amd64")
	deb := filepath.Join(folder, "feedmesh-1.2.3-linux-amd64.deb")
	listing := output(t, "dpkg-deb", "--contents", deb)
	if got := modesOf(listing); !slices.Equal(got, packaged) {
		t.Errorf("files:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(packaged, "\n"))
	}
	if strings.Count(listing, " root/root ") != strings.Count(listing, "\n") {
		t.Errorf("not all files are root's:\n%s", listing)
	}
	control := t.TempDir()
	output(t, "dpkg-deb", "--control", deb, control)
	if got := read(t, filepath.Join(control, "conffiles")); got != "/etc/feedmesh/agent.env\n" {
		t.Errorf("conffiles: %q", got)
	}

	need(t, "systemd-analyze")
	root := t.TempDir()
	output(t, "dpkg-deb", "--extract", deb, root)
	unit := read(t, filepath.Join(root, "usr/lib/systemd/system/feedmesh-agent.service"))
	if !strings.Contains(unit, "\nExecStart=/usr/bin/feedmesh-agent\n") || !strings.Contains(unit, "\nUser=feedmesh\n") || strings.Contains(unit, "DynamicUser") {
		t.Errorf("the unit has another program or user:\n%s", unit)
	}
	path := filepath.Join(t.TempDir(), "feedmesh-agent.service")
	unit = strings.Replace(unit, "/usr/bin/feedmesh-agent", filepath.Join(root, "usr/bin/feedmesh-agent"), 1)
	if err := os.WriteFile(path, []byte(unit), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := output(t, "systemd-analyze", "verify", path); out != "" {
		t.Errorf("systemd-analyze verify:\n%s", out)
	}
}

func TestRPM_FilesModesAndConfiguration(t *testing.T) {
	t.Parallel()
	need(t, "rpm")
	folder, _ := release(t, "v1.2.3", "linux-amd64")
	rpm := filepath.Join(folder, "feedmesh-1.2.3-linux-amd64.rpm")
	if got := modesOf(output(t, "rpm", "-qplv", rpm)); !slices.Equal(got, packaged) {
		t.Errorf("files:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(packaged, "\n"))
	}
	if got := output(t, "rpm", "-qpc", rpm); got != "/etc/feedmesh/agent.env\n" {
		t.Errorf("configuration files: %q", got)
	}
}

// A system is a view of this machine's files in which changes are kept apart.
type system struct {
	t      *testing.T
	folder string
}

// newSystem returns a system without policies about services, or skips the test where this user can't make it.
func newSystem(t *testing.T) system {
	t.Helper()
	need(t, "unshare", "chroot", "dpkg", "deb-systemd-invoke", "systemctl", "systemd-sysusers")
	s := system{t, t.TempDir()}
	for _, name := range []string{"upper", "work", "root"} {
		if err := os.Mkdir(filepath.Join(s.folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := s.command("rm -f /usr/sbin/policy-rc.d; rm -rf /run/systemd/system").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED, NOT TESTED: no overlay of the root file system, which needs root: %v: %s", err, out)
	}
	return s
}

func (s system) command(script string) *exec.Cmd {
	const enter = `mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
		mount --rbind /dev "$1/root/dev"; mount --rbind /proc "$1/root/proc"; exec chroot "$1/root" sh -ec "$2"`
	return exec.Command("unshare", "--mount", "sh", "-ec", enter, "sh", s.folder, script)
}

// run returns the output of a shell script in the system.
func (s system) run(script string) string {
	s.t.Helper()
	out, err := s.command(script).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// copy copies a file to the root of the system.
func (s system) copy(file, name string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.folder, "upper", name), []byte(read(s.t, file)), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// install installs a package; this machine need not have the packages that it depends on.
func (s system) install(deb string) {
	s.t.Helper()
	s.copy(deb, "feedmesh.deb")
	s.run("dpkg --force-depends --install /feedmesh.deb </dev/null")
}

// startSystemd has scripts find a running systemd, whose systemctl logs the calls and executes those about files.
func (s system) startSystemd() {
	s.run(`mkdir -p /run/systemd/system; cp /usr/bin/systemctl /usr/bin/systemctl-files; rm /usr/bin/systemctl
cat >/usr/bin/systemctl <<'END'
#!/bin/sh
echo "$*" >>/calls
case "$*" in
*preset* | *is-enabled* | *disable*) exec systemctl-files --root=/ "$@" ;;
*is-active*) exit 3 ;;
esac
END
chmod 755 /usr/bin/systemctl`)
}

// called returns the calls that change the state of the service, since the last time.
func (s system) called() []string {
	s.t.Helper()
	return found(`(?m)((?:try-)?(?:re)?start|stop) feedmesh-agent\.service$`, s.run("touch /calls; cat /calls; rm /calls"))
}

const (
	statesOf    = `stat -c '%A %U %n' /etc/feedmesh/token /etc/feedmesh/agent.env /var/lib/feedmesh`
	installed   = "-rw------- root /etc/feedmesh/token\n-rw-r----- root /etc/feedmesh/agent.env\ndrwx------ feedmesh /var/lib/feedmesh\n"
	enabledLink = "/etc/systemd/system/multi-user.target.wants/feedmesh-agent.service"
)

func TestDeb_InstallsUpgradesDowngradesAndPurges(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	folder, _ := release(t, "v1.2.3", "linux-amd64")
	first := filepath.Join(folder, "feedmesh-1.2.3-linux-amd64.deb")
	folder, _ = release(t, "v1.2.3-4-g0123abc", "linux-amd64")
	second := filepath.Join(folder, "feedmesh-1.2.3+4.g0123abc-linux-amd64.deb")

	// Without a running systemd, as in an image.
	s.install(first)
	if got := s.run(statesOf); got != installed {
		t.Errorf("after the installation:\n%swant:\n%s", got, installed)
	}
	if token := s.run("cat /etc/feedmesh/token"); len(token) != 32 || strings.Trim(token, "0123456789abcdef") != "" {
		t.Errorf("token %q, want 32 hexadecimal digits", token)
	}
	s.run("test -L " + enabledLink + "; /usr/bin/feedmesh-agent")
	s.run("dpkg --purge feedmesh")

	s.startSystemd()
	s.install(first)
	if got := s.called(); !slices.Equal(got, []string{"restart"}) {
		t.Errorf("the installation called %q, want restart, which starts an enabled service", got)
	}
	s.run("echo FEEDMESH_KEEP=90d >/etc/feedmesh/agent.env; echo data >/var/lib/feedmesh/store.db; cp /etc/feedmesh/token /token")
	for _, deb := range []string{second, first} {
		s.install(deb)
		if got := s.called(); !slices.Equal(got, []string{"restart"}) {
			t.Errorf("the upgrade to %s called %q, want restart", filepath.Base(deb), got)
		}
		s.run("cmp /etc/feedmesh/token /token; grep -q 90d /etc/feedmesh/agent.env; grep -q data /var/lib/feedmesh/store.db")
	}

	s.run("systemctl disable feedmesh-agent.service; rm /calls")
	s.install(second)
	if got := s.called(); len(got) != 0 {
		t.Errorf("the upgrade of a disabled service called %q", got)
	}
	s.run("test ! -e " + enabledLink)

	s.run("dpkg --remove feedmesh")
	if got := s.called(); !slices.Equal(got, []string{"stop"}) {
		t.Errorf("the removal called %q, want stop", got)
	}
	s.run("test ! -e /usr/bin/feedmesh-agent; grep -q 90d /etc/feedmesh/agent.env")
	s.run("dpkg --purge feedmesh; test ! -e /etc/feedmesh; grep -q data /var/lib/feedmesh/store.db; getent passwd feedmesh")
}

func TestDeb_MaskedServiceIsNotStarted(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	folder, _ := release(t, "v1.2.3", "linux-amd64")
	s.startSystemd()
	s.run("ln -s /dev/null /etc/systemd/system/feedmesh-agent.service")
	s.install(filepath.Join(folder, "feedmesh-1.2.3-linux-amd64.deb"))
	if got := s.called(); len(got) != 0 {
		t.Errorf("the installation called %q", got)
	}
}

func TestRPM_InstallsUpgradesAndRemoves(t *testing.T) {
	t.Parallel()
	need(t, "rpm")
	s := newSystem(t)
	s.startSystemd()
	install := func(described string) []string {
		t.Helper()
		folder, version := release(t, described, "linux-amd64")
		s.copy(filepath.Join(folder, "feedmesh-"+version+"-linux-amd64.rpm"), "feedmesh.rpm")
		// Debian has no database of installed rpm packages.
		s.run("rpm --dbpath /rpm --nodeps --upgrade /feedmesh.rpm")
		return s.called()
	}
	for _, described := range []string{"v1.2.3", "v1.2.3-4-g0123abc"} {
		if got := install(described); !slices.Equal(got, []string{"try-restart"}) {
			t.Errorf("the installation of %s called %q, want try-restart, which starts nothing", described, got)
		}
		if got := s.run(statesOf); got != installed {
			t.Errorf("after the installation of %s:\n%swant:\n%s", described, got, installed)
		}
		s.run("echo FEEDMESH_KEEP=90d >/etc/feedmesh/agent.env; echo data >/var/lib/feedmesh/store.db")
	}
	s.run("rpm --dbpath /rpm --erase feedmesh; test ! -e " + enabledLink + "; test ! -e /usr/bin/feedmesh-agent; grep -q 90d /etc/feedmesh/agent.env*; test -e /var/lib/feedmesh/store.db")
	if got := s.run("cat /calls"); !strings.Contains(got, "disable --now feedmesh-agent.service\n") {
		t.Errorf("the removal called:\n%s", got)
	}
}
