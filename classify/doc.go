// Package classify turns words into labels: spam, categories and topics, each
// with its reason. It knows nothing of feeds, queues or storage, and ships the
// rules it decides by. What language a text is in and what the stems of its
// words are tell its folders.
package classify
