/** `{{pipeline_param.KEY}}`, spaces inside allowed. */
export const PLACEHOLDER = /\{\{\s*pipeline_param\.([^{}\s]+)\s*\}\}/g;

/** A text whose value is only known per pipeline: until it is substituted, nothing can be said about its type. */
export function hasPlaceholder(value: unknown): boolean {
  return typeof value === 'string' && value.includes('pipeline_param.') && value.search(PLACEHOLDER) >= 0;
}
