/** `js_builder_config` of a pipeline: how its collector is built and what it reads from the page. */
import type { Static } from 'typebox';
import { IDENTIFIER, NAME_FAULT, TAKEN_NAMES } from './global-name.ts';
import { AllOptional, Closed, named, OneOf } from './schema.ts';
import { Type } from './type.ts';

const ConsentCategory = Type.String({ minLength: 1, maxLength: 100 });
const ConsentConfigSchema = named(
  'ConsentConfig',
  Closed(
    {
      provider: Type.Optional(
        OneOf(['auto', 'onetrust', 'cookiebot', 'usercentrics', 'didomi', 'osano', 'tcf', 'google_consent_mode', 'custom']),
      ),
      wait_ms: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 60_000, description: 'How long the collector waits for a consent choice, in milliseconds.' }),
      ),
      required_category: Type.Optional(ConsentCategory),
    },
    { description: 'Where the collector reads consent from.' },
  ),
);
export type ConsentConfig = Static<typeof ConsentConfigSchema>;

const VendorSyncSchema = named(
  'VendorSync',
  Closed({ enabled: Type.Optional(Type.Boolean()), consent_category: Type.Optional(ConsentCategory) }),
);
export type VendorSync = Static<typeof VendorSyncSchema>;

/** Every JavaScript object inherits these names, so an event built in a browser cannot hold them as its own. */
const INHERITED = ['prototype', ...Object.getOwnPropertyNames(Object.prototype)].join('|');
/** In the spelling of the canonical event, and in that of the calls. */
const IDS_AND_NAMES = 'event_id|timestamp|user_id|anonymous_id|group_id|userId|anonymousId|groupId|event|name';
const PageVariableSchema = named(
  'PageVariable',
  Closed(
    {
      name: Type.String({ minLength: 1, maxLength: 200 }),
      source: OneOf(['data_layer', 'js_variable', 'cookie', 'query', 'meta', 'selector']),
      path: Type.String({ minLength: 1, maxLength: 1_000 }),
      target: Type.String({
        maxLength: 500,
        pattern: `^((properties|traits|context)(\\.[^.]+)*|${IDS_AND_NAMES})$`,
        not: { pattern: `(^|\\.)(${INHERITED})(\\.|$)` },
        'x-fault': 'must be a path into the event, such as properties.section, traits.plan, context.page.type or user_id',
        examples: ['properties.section'],
      }),
    },
    { description: 'A value that the collector reads from the page with every event.' },
  ),
);
export type PageVariable = Static<typeof PageVariableSchema>;

const FIELDS = {
  script_filename: Type.String({
    maxLength: 100,
    pattern: '^[A-Za-z0-9._-]+\\.js$',
    'x-fault': 'may hold letters, digits, . _ - and must end in .js',
    description: 'File name of the generated collector.',
    examples: ['d.js'],
  }),
  global_variable: Type.String({
    maxLength: 100,
    pattern: IDENTIFIER,
    not: { enum: [...TAKEN_NAMES] },
    'x-fault': NAME_FAULT,
    description: 'Global variable that the collector exposes.',
    examples: ['_df'],
  }),
  delivery_method: OneOf(['download', 'cdn', 'cluster']),
  vendor_syncs: Type.Record(Type.String({ minLength: 1, maxLength: 100 }), VendorSyncSchema, {
    description: 'First-party ids to read or mint, by vendor.',
  }),
  consent_config: ConsentConfigSchema,
  cross_domain: Type.Boolean({ description: 'Whether the collector passes the visitor id to links between your domains.' }),
};
const variables = Type.Optional(Type.Array(PageVariableSchema, { maxItems: 200 }));

export const JsBuilderConfigSchema = named('JsBuilderConfig', Closed({ ...FIELDS, variables }));
/** Missing keys take their defaults. */
export const JsBuilderConfigInput = named('JsBuilderConfigInput', Closed({ ...AllOptional(FIELDS), variables }));
export type JsBuilderConfig = Static<typeof JsBuilderConfigSchema>;
export const JS_BUILDER_DEFAULTS: JsBuilderConfig = {
  script_filename: 'd.js',
  global_variable: '_df',
  delivery_method: 'cdn',
  vendor_syncs: {},
  consent_config: {},
  cross_domain: false,
};
