/** `{{pipeline_param.KEY}}` as it stands in a stored config, or stays in a loaded one where the parameter is missing. */
const PLACEHOLDER = /\{\{\s*pipeline_param\.([^{}\s]+)\s*\}\}/g;

export function hasPlaceholder(value: unknown): boolean {
  return typeof value === 'string' && value.includes('pipeline_param') && value.search(PLACEHOLDER) >= 0;
}

/** Every parameter that the config still refers to, once each, in order of appearance. */
export function leftPlaceholders(config: unknown): string[] {
  const found = new Set<string>();
  walk(config, found);
  return [...found];
}

function walk(value: unknown, found: Set<string>): void {
  if (typeof value === 'string') {
    if (value.includes('pipeline_param')) for (const match of value.matchAll(PLACEHOLDER)) found.add(match[1] as string);
  } else if (Array.isArray(value)) {
    for (const element of value) walk(element, found);
  } else if (typeof value === 'object' && value !== null) {
    for (const element of Object.values(value)) walk(element, found);
  }
}
