/** An error's message without its stack, cut to the length of a dead letter's reason. */
export function errorText(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 200);
}
