import { describe, expect, test } from 'vitest';
import { DEFAULT_DATA_LAYER } from '../config/resources.ts';
import type { CanonicalEvent } from '../event/canonical.ts';
import type { JsonObject } from '../json.ts';
import { applyConsent, compileConsent } from './consent.ts';

type Config = Partial<typeof DEFAULT_DATA_LAYER.consent>;
const all = { essential: true, analytics: true, marketing: true, advertising: true };

const cases: [name: string, context: JsonObject, canonical: Record<string, boolean>, config?: Config][] = [
  ['nothing sent: only what is essential', {}, { essential: true }],
  [
    'booleans',
    { consent: { categories: { necessary: true, statistics: true, marketing: false } } },
    { essential: true, analytics: true, marketing: false, advertising: false },
  ],
  [
    'granted and denied',
    { consent: { categories: { statistics: 'granted', marketing: 'denied' } } },
    { essential: true, analytics: true, marketing: false, advertising: false },
  ],
  [
    'a list of what is granted: the rest is not',
    { consent: { categories: ['necessary', 'statistics'] } },
    { essential: true, analytics: true, marketing: false, advertising: false },
  ],
  [
    'an empty list grants nothing, whatever the default',
    { consent: { categories: [] } },
    { essential: true, analytics: false, marketing: false, advertising: false, functional: true },
    { default: { analytics: true, marketing: true, functional: true } },
  ],
  [
    'RudderStack allows nothing, whatever the default',
    { consentManagement: { allowedConsentIds: [], deniedConsentIds: ['C0002'] } },
    { essential: true, analytics: false, marketing: false, advertising: false },
    { default: { marketing: true } },
  ],
  ['essential cannot be denied', { consent: { categories: { necessary: false, essential: false } } }, { essential: true }],
  [
    'a canonical name maps to itself',
    { consent: { categories: { analytics: true, functional: false, advertising: true } } },
    { essential: true, analytics: true, functional: false, advertising: true },
  ],
  [
    'several raw on one canonical are OR-ed',
    { consent: { categories: { a: false, b: true, c: false } } },
    { essential: true, analytics: true },
    { mapping: { a: 'analytics', b: 'analytics', c: 'analytics' } },
  ],
  ['unknown names tell nothing', { consent: { categories: { whatever: true, toString: true } } }, { essential: true }],
  ['odd values tell nothing', { consent: { categories: { statistics: 'maybe', marketing: null, necessary: {} } } }, { essential: true }],
  [
    'a category of the organisation’s own',
    { consent: { categories: { C0009: true } } },
    { essential: true, social: true },
    { mapping: { C0009: 'social' } },
  ],
  [
    'the organisation’s mapping wins over a canonical name',
    { consent: { categories: { marketing: true } } },
    { essential: true, analytics: true },
    { mapping: { marketing: 'analytics' } },
  ],
  [
    'canonical of the client, where nothing raw is there',
    { consent: { canonical: { analytics: true, marketing: 'denied' } } },
    { essential: true, analytics: true, marketing: false, advertising: false },
  ],
  [
    'raw wins over canonical of the client',
    { consent: { categories: { statistics: false }, canonical: { analytics: true, functional: true } } },
    { essential: true, analytics: false, functional: true },
  ],
  [
    'Segment',
    { consent: { categoryPreferences: { Advertising: true, Analytics: false, Functional: true } } },
    { essential: true, advertising: true, analytics: false, functional: true },
  ],
  [
    'RudderStack',
    { consentManagement: { provider: 'custom', allowedConsentIds: ['statistics'], deniedConsentIds: ['marketing'] } },
    { essential: true, analytics: true, marketing: false, advertising: false },
  ],
  [
    'RudderStack’s ids inside consent',
    { consent: { allowedConsentIds: ['marketing'], deniedConsentIds: ['statistics'] } },
    { essential: true, marketing: true, advertising: true, analytics: false },
  ],
  [
    'Google consent mode as categories',
    {
      consent: {
        categories: { ad_storage: 'granted', analytics_storage: 'denied', functionality_storage: 'granted', security_storage: 'denied' },
      },
    },
    { essential: true, marketing: true, advertising: true, analytics: false, functional: true },
  ],
  [
    'Google consent mode beside',
    { consent: { ad_storage: 'granted', ad_user_data: 'denied', ad_personalization: 'granted', analytics_storage: 'granted' } },
    { essential: true, marketing: true, advertising: false, analytics: true },
  ],
  [
    'Google consent mode below',
    { consent: { google_consent_mode: { ad_storage: 'denied', ad_user_data: 'granted' } } },
    { essential: true, marketing: false, advertising: true },
  ],
  ...(
    [
      ['Cookiebot', { necessary: true, preferences: true, statistics: false, marketing: false }],
      ['Osano', { ESSENTIAL: true, STORAGE: true, PERSONALIZATION: true, ANALYTICS: false, MARKETING: false }],
      ['Usercentrics', { essential: true, functional: true, analytics: false, marketing: false }],
    ] as const
  ).map(([tool, categories]): (typeof cases)[number] => [
    `${tool}: what remembers the visitor's preferences is functional`,
    { consent: { categories } },
    { essential: true, analytics: false, marketing: false, advertising: false, functional: true },
  ]),
  ['preferences that are denied', { consent: { categories: { preferences: false } } }, { essential: true, functional: false }],
  [
    'the organisation may mean something else by preferences',
    { consent: { categories: { preferences: true } } },
    { essential: true, marketing: true, advertising: true },
    { mapping: { preferences: 'marketing' } },
  ],
  [
    'ids that a customer of the tool chooses, and purposes of TCF, tell nothing without a mapping',
    { consent: { categories: { C0003: true, purpose_1: true, cookies: true } } },
    { essential: true },
  ],
  [
    'GPC denies marketing and advertising',
    { gpc: true, consent: { categories: { marketing: true, advertising: true, statistics: true } } },
    { essential: true, marketing: false, advertising: false, analytics: true },
  ],
  ['GPC with nothing else known', { gpc: true }, { essential: true, marketing: false, advertising: false }],
  [
    'GPC not honoured',
    { gpc: true, consent: { categories: { marketing: true } } },
    { essential: true, marketing: true, advertising: true },
    { honour_gpc: false },
  ],
  [
    'defaults fill what is unknown',
    { consent: { categories: { statistics: false } } },
    { essential: true, analytics: false, marketing: true, advertising: true },
    { default: { analytics: true, marketing: true } },
  ],
  [
    'advertising falls back to marketing',
    { consent: { categories: { marketing: true } } },
    { essential: true, marketing: true, advertising: true },
  ],
  ['everything', { consent: { categories: ['necessary', 'statistics', 'marketing'] } }, all],
  ['consent that is no object', { consent: 'yes' }, { essential: true }],
  [
    'names that would reach a prototype',
    JSON.parse('{"consent":{"categories":{"__proto__":true,"constructor":true},"canonical":{"__proto__":true}}}') as JsonObject,
    { essential: true },
  ],
];

describe('consent', () => {
  test.each(cases)('%s', (_name, context, canonical, config) => {
    const event: CanonicalEvent = { event_id: 'e', type: 'track', event: 'T', timestamp: '', context: structuredClone(context) };
    applyConsent(event, compileConsent({ ...DEFAULT_DATA_LAYER.consent, ...config }), []);
    const consent = event.context.consent as JsonObject;
    expect(consent.canonical).toEqual(canonical);
    if (typeof context.consent === 'object') {
      const { canonical: _new, ...kept } = consent;
      const { canonical: _old, ...sent } = context.consent as JsonObject;
      expect(kept).toEqual(sent); // the raw words stay
    }
    expect(({} as Record<string, unknown>).essential).toBeUndefined();
  });
});
