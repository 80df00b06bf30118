/** What follows for a category from what the visitor agreed to, which is in the consent tool's own words. */
import type { Categories, Category } from './types.ts';

/** Raw names in lower case, and whether each is granted. */
const byName = (raw: Categories = {}): Record<string, boolean> => {
  const out: Record<string, boolean> = {};
  for (const name in raw as Record<string, unknown>) {
    const value = (raw as Record<string, unknown>)[name];
    if (Array.isArray(raw)) out[String(value).toLowerCase()] = true;
    else out[name.toLowerCase()] = value === true || value === 'granted';
  }
  return out;
};

export const isGranted = (category: Category, categories: Categories | undefined): boolean => {
  if (!category) return true;
  if (category[1] && (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl) return false;
  const given = byName(categories);
  const names = category[0].find((list) => list.some((name) => name in given));
  return !!names && names.some((name) => given[name]);
};
