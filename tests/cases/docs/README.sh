. "$PREPARATIONS/training.sh"
