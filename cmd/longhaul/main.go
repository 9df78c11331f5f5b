package main

import (
	_ "github.com/alecthomas/kong"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/knadh/koanf/parsers/yaml"
	_ "github.com/knadh/koanf/providers/env/v2"
	_ "github.com/knadh/koanf/providers/file"
	_ "github.com/knadh/koanf/v2"
	_ "github.com/labstack/echo/v4"
	_ "go.temporal.io/api/enums/v1"
	_ "go.temporal.io/sdk/client"
	_ "go.uber.org/zap"
	_ "go.yaml.in/yaml/v3"
	_ "modernc.org/sqlite"
)

func main() {}
