// Placeholder until the first suite lands.
