/** `{{pipeline_param.KEY}}` in a stored config, or in a loaded one if the parameter is missing. Spaces inside the braces are allowed. */
export const PLACEHOLDER = /\{\{\s*pipeline_param\.([^{}\s]+)\s*\}\}/g;

/** The value is only known per pipeline, so its type cannot be checked before substitution. */
export function hasPlaceholder(value: unknown): boolean {
  return typeof value === 'string' && value.includes('pipeline_param.') && value.search(PLACEHOLDER) >= 0;
}

/** Returns each parameter the config still refers to once, in order of appearance. */
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

/** The warning of a parameter that the pipeline does not have. Several steps give it, and drop repeats by its text. */
export const missingParameter = (name: string): string =>
  `The pipeline has no parameter ${name}: {{pipeline_param.${name}}} is left as written.`;
