/** Something the person at the terminal can act on. */
export class CommandError extends Error {}
