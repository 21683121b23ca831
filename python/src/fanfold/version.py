"""The version of this package, which is that of the product."""

VERSION = "0.6.0"
