/** An error the user can act on. */
export class CommandError extends Error {}
/** The command was called in a wrong way: its usage is shown too. */
export class UsageError extends CommandError {}
