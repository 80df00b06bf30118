/** The name of a canonical consent category: what a mapping may produce, an integration may require. */
export const CONSENT_CATEGORY_PATTERN = '^[a-z][a-z0-9_-]{0,63}$';
