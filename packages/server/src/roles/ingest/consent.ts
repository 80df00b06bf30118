/** The consent that one event carries, as processing will see it: for cookies, which have to be decided before that. */
import { DEFAULT_DATA_LAYER } from '@firsthand/core/config/resources.ts';
import { isObject, type JsonObject, own } from '@firsthand/core/json.ts';
import { applyConsent, type CompiledConsent, compileConsent } from '@firsthand/core/privacy/consent.ts';

const BY_DEFAULT = compileConsent(DEFAULT_DATA_LAYER.consent);

export function consentOf(
  body: JsonObject,
  batchContext: JsonObject | undefined,
  gpc: boolean,
  compiled: CompiledConsent | undefined,
): (category: string) => boolean {
  const sent = own(body, 'context');
  const context: JsonObject = { ...batchContext, ...(isObject(sent) ? (sent as JsonObject) : undefined) };
  if (gpc) context.gpc = true;
  const consent = own(context, 'consent');
  // A copy: the answer is written into it, and the client's own bytes are what is stored.
  if (isObject(consent)) context.consent = { ...(consent as JsonObject) };
  const rules = compiled ?? BY_DEFAULT;
  applyConsent({ event_id: '', type: 'track', timestamp: '', context }, rules, []);
  const resolved = own(context, 'consent');
  const canonical = isObject(resolved) ? own(resolved, 'canonical') : undefined;
  // A raw name in the configuration is as good as the category it stands for.
  return (name) => isObject(canonical) && own(canonical, rules.categories.get(name) ?? name) === true;
}
