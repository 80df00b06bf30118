/** An error's message, short enough for a dead letter; never its stack. */
export function errorText(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 200);
}
