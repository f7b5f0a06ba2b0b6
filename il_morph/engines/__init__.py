"""What turns an objective into an update of the weights."""
