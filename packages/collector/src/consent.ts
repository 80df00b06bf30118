/** What the visitor agreed to, in the consent tool's own words, and what follows from it for this page. */
import type { Categories, Category } from './types.ts';

export let categories: Categories | undefined;

export const setCategories = (to: Categories | undefined) => {
  categories = to;
};

/** Raw names in lower case, and whether each is granted. */
const known = (): Record<string, boolean> => {
  const out: Record<string, boolean> = {};
  const raw = categories || {};
  for (const name in raw as Record<string, unknown>) {
    const value = (raw as Record<string, unknown>)[name];
    if (Array.isArray(raw)) out[String(value).toLowerCase()] = true;
    else out[name.toLowerCase()] = value === true || value === 'granted';
  }
  return out;
};

export const isGranted = (category: Category): boolean => {
  if (!category) return true;
  if (category[1] && (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl) return false;
  const given = known();
  const names = category[0].find((list) => list.some((name) => name in given));
  return !!names && names.some((name) => given[name]);
};
