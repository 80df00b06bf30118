/** First-party ids that ad platforms expect, read from their cookies where the visitor agreed. The server makes the missing ones. */
import { isGranted } from './consent.ts';
import { cookies } from './page.ts';

export const vendorIds = (): Record<string, string> | undefined => {
  const out: Record<string, string> = {};
  const all = cookies();
  for (const [category, wanted] of C_VENDOR_IDS) {
    if (!isGranted(category)) continue;
    for (const [id, name, part] of wanted) {
      const found = all.find((pair) => new RegExp(`^${name}$`).test(pair[0]));
      const match = found && new RegExp(part || '.+').exec(found[1]);
      if (match) out[id] = match[1] || match[0];
    }
  }
  return out;
};
