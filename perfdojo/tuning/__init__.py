"""Search: schedules that nobody wrote are proposed, measured safely, kept and explained."""
