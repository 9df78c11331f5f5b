// Package card has the agent cards: the public one, and the one for authenticated callers.
package card
