-- The stages of a turn with their times, and what its prompts were billed, as JSON.
ALTER TABLE turn ADD COLUMN record BODY;
