/** `{{pipeline_param.KEY}}` as it stands in a stored config, or stays in a loaded one where the parameter is missing; spaces inside allowed. */
export const PLACEHOLDER = /\{\{\s*pipeline_param\.([^{}\s]+)\s*\}\}/g;

/** A text whose value is only known per pipeline: until it is substituted, nothing can be said about its type. */
export function hasPlaceholder(value: unknown): boolean {
  return typeof value === 'string' && value.includes('pipeline_param.') && value.search(PLACEHOLDER) >= 0;
}

/** Every parameter that the config still refers to, once each, in order of appearance. */
export function leftPlaceholders(config: unknown): string[] {
  const found = new Set<string>();
  collect(config, found);
  return [...found];
}

function collect(value: unknown, found: Set<string>): void {
  if (typeof value === 'string') {
    if (hasPlaceholder(value)) for (const match of value.matchAll(PLACEHOLDER)) found.add(match[1] as string);
  } else if (typeof value === 'object' && value !== null) {
    for (const element of Object.values(value)) collect(element, found);
  }
}
