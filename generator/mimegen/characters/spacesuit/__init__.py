"""The spacesuit: a figure without a face or a sex."""
