/** Whether a category is granted, given the raw categories of the consent tool. */
import type { Categories, Category } from './types.ts';

/** Lower-case raw name to whether it is granted. */
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
