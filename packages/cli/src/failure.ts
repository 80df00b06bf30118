/** An error the user can act on. */
export class CommandError extends Error {}
