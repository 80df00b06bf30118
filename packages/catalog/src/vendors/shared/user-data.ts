/** User data for matching: normalised and hashed as most advertising APIs ask. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { from, type Rest, type Transform, use } from './mapping.ts';
import { template } from './messages.ts';
import * as source from './sources.ts';

/** The vendor's name of each field. A field without a name is not sent. */
export interface UserDataNames {
  email?: string;
  phone?: string;
  first_name?: string;
  last_name?: string;
  gender?: string;
  birthday?: string;
  city?: string;
  state?: string;
  postal_code?: string;
  country?: string;
  external_id?: string;
  ip?: string;
  user_agent?: string;
}
/** The short names that Meta began with and others took over. */
export const SHORT_NAMES: UserDataNames = {
  email: 'em',
  phone: 'ph',
  first_name: 'fn',
  last_name: 'ln',
  gender: 'ge',
  city: 'ct',
  state: 'st',
  postal_code: 'zp',
  country: 'country',
  ip: 'client_ip_address',
  user_agent: 'client_user_agent',
};
export interface UserDataStyle {
  /**
   * `digits`: country code and number without plus (Meta, Snap, Pinterest). `e164`: with plus (Google, TikTok, X, Reddit). `national`:
   * digits without the country code (Rokt).
   */
  phone: keyof typeof PHONES;
  /**
   * `gmail`: Google's rules for dots and tags. `canonical`: without dots and tags for every domain (Reddit). `unaccented`: without accents
   * too (Microsoft).
   */
  email?: 'plain' | 'gmail' | 'canonical' | 'unaccented';
  /** Fields that are sent normalised but not hashed. */
  plain?: (keyof UserDataNames)[];
  /** Each value is a list of one: `em: ["…"]`. */
  lists?: boolean;
  /** The vendor matches an IP address only together with a user agent, so it is sent only with one. */
  ip_with_user_agent?: boolean;
}

const EMAIL: Record<NonNullable<UserDataStyle['email']>, Transform> = {
  plain: 'normalize_email',
  gmail: 'normalize_gmail',
  canonical: 'canonical_email',
  unaccented: use('canonical_email', true),
};
/** The country of a number without a country code: that of the address. */
export const PHONE_COUNTRY = { source: source.COUNTRY };
const PHONES = {
  digits: use('normalize_phone_digits', PHONE_COUNTRY),
  national: use('normalize_phone_digits', PHONE_COUNTRY, true),
  e164: use('normalize_phone', PHONE_COUNTRY),
} as const satisfies Record<string, Transform>;
const NEVER_HASHED: ReadonlySet<string> = new Set(['ip', 'user_agent']);
/** For vendors that write to people: a hash from the browser is neither an address nor a number. */
export const PLAIN_EMAIL = use('normalize_email', true);
export const PLAIN_PHONE = use('normalize_phone', PHONE_COUNTRY, false, true);
const isHash = (sources: readonly string[]) => ({ any: sources.map((field) => ({ field, op: 'matches', value: '^[0-9a-fA-F]{64}$' })) });
export const EMAIL_IS_HASHED = isHash(source.EMAIL);
/** A number as somebody wrote it, for vendors that show it to people. */
export const PHONE_IS_READABLE = { not: isHash(source.PHONE) };
const nameTrait = (snake: string, camel: string) => `{{#if traits.${snake}}}{{traits.${snake}}}{{else}}{{traits.${camel}}}{{/if}}`;
/** First and last name as one text. */
export const BOTH_NAMES = `${nameTrait('first_name', 'firstName')} ${nameTrait('last_name', 'lastName')}`;
/** A person's whole name: the trait `name`, otherwise the first and the last name. */
export const fullName = (target: string, then: Transform[] = []): JsonObject[] => [
  template(BOTH_NAMES, target, ['trim', ...then]),
  from('traits.name', target, ['trim', ...then]),
];
/** All traits, without a hashed address or number. */
export function readableTraits(target: string, when: JsonObject[] = []): JsonObject[] {
  const hashed = { email: isHash(['traits.email']), phone: isHash(['traits.phone']) };
  const line = (names: (keyof typeof hashed)[]): JsonObject =>
    from('traits', target, names.length === 0 ? [] : [use('omit', ...names)], {
      when: {
        all: [
          ...when,
          ...(['email', 'phone'] as const).map((name): JsonObject => (names.includes(name) ? hashed[name] : { not: hashed[name] })),
        ],
      },
    });
  return [line([]), line(['email']), line(['phone']), line(['email', 'phone'])];
}

/** A trait of the user, for vendors that take group calls: there only the context speaks of the user. */
export const ofUser = (sources: readonly string[], target: string, transforms: Transform[]): JsonObject[] => [
  from([...sources], target, transforms, { when: { not: source.IS_GROUP } }),
  from(
    sources.filter((path) => path.startsWith('context.')),
    target,
    transforms,
    { when: source.IS_GROUP },
  ),
];

/** Lines that write into `at`, such as `user_data`. */
export function userData(at: string, names: UserDataNames, style: UserDataStyle): JsonObject[] {
  const fields: Record<keyof UserDataNames, [sources: string | string[], transforms: Transform[]]> = {
    email: [source.EMAIL, [EMAIL[style.email ?? 'plain']]],
    phone: [source.PHONE, [PHONES[style.phone]]],
    first_name: [source.FIRST_NAME, [use('normalize_name', 'joined')]],
    last_name: [source.LAST_NAME, [use('normalize_name', 'joined')]],
    gender: [source.GENDER, ['normalize_gender']],
    birthday: [source.BIRTHDAY, ['normalize_date']],
    city: [source.CITY, ['normalize_city']],
    state: [source.STATE, ['normalize_state']],
    postal_code: [source.POSTAL_CODE, ['normalize_zip']],
    country: [source.COUNTRY, ['country_code', 'lowercase']],
    external_id: [['user_id', 'anonymous_id'], ['trim']],
    ip: ['context.ip', []],
    user_agent: ['context.user_agent', []],
  };
  const plain = new Set<string>(style.plain ?? []);
  return Object.entries(fields).flatMap(([key, [sources, transforms]]) => {
    const name = names[key as keyof UserDataNames];
    if (name === undefined) return [];
    const hashed = NEVER_HASHED.has(key) || plain.has(key) ? transforms : [...transforms, 'sha256'];
    const rest: Rest = key === 'ip' && style.ip_with_user_agent ? { when: { field: 'context.user_agent', op: 'exists' } } : {};
    return [from(sources, `${at}.${name}${style.lists && !NEVER_HASHED.has(key) ? '[0]' : ''}`, hashed, rest)];
  });
}
