module example.com/release

go 1.26.8

require (
	longhaul v0.0.0
	longhaul/dev v0.0.0
)

replace longhaul => ../..

replace longhaul/dev => ../../dev
