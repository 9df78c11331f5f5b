// Package gate lists and shows the questions for people, open and closed, and takes answers to
// them: for the console, answer links, commands and the pages of the API.
package gate
