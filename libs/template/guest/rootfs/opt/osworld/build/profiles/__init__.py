"""Makes the application profiles of the desktop's user, and checks them."""
