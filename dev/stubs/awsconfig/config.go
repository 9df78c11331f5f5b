// Package config stands in for the settings of the clients of AWS, of which programs that
// are built in the workspace of this repository have none (see stubs/s3). The package that it
// stands in for brings four of them. No settings can be loaded.
package config

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// ErrNotBuiltIn is the error of every call.
var ErrNotBuiltIn = errors.New("clients of AWS are not built into this program")

// An EnvConfig would have the settings in the environment.
type EnvConfig struct{ Credentials aws.Credentials }

// NewEnvConfig returns ErrNotBuiltIn.
func NewEnvConfig() (EnvConfig, error) { return EnvConfig{}, ErrNotBuiltIn }

// LoadDefaultConfig returns ErrNotBuiltIn.
func LoadDefaultConfig(context.Context, ...any) (aws.Config, error) {
	return aws.Config{}, ErrNotBuiltIn
}

// WithRegion returns an option without effect.
func WithRegion(string) any { return nil }

// WithClientLogMode returns an option without effect.
func WithClientLogMode(aws.ClientLogMode) any { return nil }
