import { isObject, put } from '../json.ts';
import { defineTransform } from './define.ts';
import { ga4NameOf } from './ga4-name.ts';
import { textOf } from './values.ts';

const MAX_PROPERTIES = 25;
const MAX_NAME = 24;
const MAX_VALUE = 36;
/** Google forbids personal data in user properties. */
const PERSONAL = /e_?mail|phone|first_?name|last_?name|address|birth|^name$/i;

/** Reserved by Google. */
const RESERVED = new Set(['first_open_time', 'first_visit_time', 'last_deep_link_referrer', 'user_id', 'first_open_after_install']);

export const ga4UserProperties = defineTransform({
  name: 'ga4_user_properties',
  summary:
    'Traits as Google Analytics 4 user properties, `{name: {value}}`: names of 24, values of 36 characters, at most 25; what names a person or is reserved is left out.',
  examples: [
    [
      { plan: 'pro', email: 'a@b.c', firstName: 'Anna', seats: 5, user_id: 'u' },
      { plan: { value: 'pro' }, seats: { value: 5 } },
    ],
    [{ email: 'a@b.c' }, undefined],
    ['x', undefined],
  ],
  apply(value) {
    if (!isObject(value)) return undefined;
    const out: Record<string, unknown> = {};
    let room = MAX_PROPERTIES;
    for (const key of Object.keys(value)) {
      const inner = value[key];
      const name = ga4NameOf(key, MAX_NAME);
      if (room === 0 || name === undefined || RESERVED.has(name) || PERSONAL.test(key) || textOf(inner) === undefined) continue;
      put(out, name, { value: typeof inner === 'string' ? inner.slice(0, MAX_VALUE) : inner });
      room -= 1;
    }
    return room === MAX_PROPERTIES ? undefined : out;
  },
});
