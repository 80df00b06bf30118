/** First-party ids that ad platforms expect, read from their cookies with consent. The server creates missing ones. */
import { isGranted } from './consent.ts';
import { attempt } from './page.ts';
import type { Categories } from './types.ts';

export const vendorIds = (categories: Categories | undefined): Record<string, string> | undefined => {
  const out: Record<string, string> = {};
  // Read once: each read makes the browser ask another process.
  let all: string | undefined;
  for (const [category, wanted] of C_VENDOR_IDS) {
    if (!isGranted(category, categories)) continue;
    all = all ?? (attempt(() => document.cookie) || '');
    for (const [id, name, part] of wanted) {
      const match = RegExp(part || '.+').exec(RegExp(`(^|; )${name}=([^;]*)`).exec(all)?.[2] || '');
      if (match) out[id] = match[1] || match[0];
    }
  }
  return out;
};
