/** First-party ids that ad platforms expect, read from their cookies where the visitor agreed. The server makes the missing ones. */
import { isGranted } from './consent.ts';
import { cookie } from './page.ts';
import type { Categories } from './types.ts';

export const vendorIds = (categories: Categories | undefined): Record<string, string> | undefined => {
  const out: Record<string, string> = {};
  for (const [category, wanted] of C_VENDOR_IDS) {
    if (!isGranted(category, categories)) continue;
    for (const [id, name, part] of wanted) {
      const match = RegExp(part || '.+').exec(cookie(name) || '');
      if (match) out[id] = match[1] || match[0];
    }
  }
  return out;
};
