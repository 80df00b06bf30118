/** The organisation's processing settings. Patterns, paths and conditions are checked by compiling them. */
import type { Static, TObject, TProperties } from 'typebox';
import type { Condition } from './rules.ts';
import { AllOptional, Closed, named, OneOf } from './schema.ts';
import { Type } from './type.ts';

const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const PiiActionSchema = OneOf(['hash', 'redact', 'drop'], {
  description: '`hash`: SHA-256 of the trimmed lower-case value. `redact`: `[redacted]`. `drop`: the field is removed.',
});
export type PiiAction = Static<typeof PiiActionSchema>;

const SECTIONS = {
  consent: {
    mapping: Type.Record(Type.String(), Type.String(), { description: 'Raw category to canonical category.' }),
    default: Type.Record(Type.String(), Type.Boolean(), { description: 'Consent assumed where an event does not mention a category.' }),
    honour_gpc: Type.Boolean({ description: 'Global Privacy Control denies marketing and advertising.' }),
  },
  bot_filtering: {
    action: OneOf(['flag', 'drop', 'allow']),
    block_empty_user_agent: Type.Boolean({ description: 'Whether a request without a user agent counts as a bot.' }),
    custom_patterns: Type.Array(Text(1_000), { maxItems: 100, description: 'Regular expressions for user agents of bots.' }),
  },
  pii_rules: {
    ip: OneOf(['keep', 'truncate', 'drop'], { description: '`truncate` keeps the /24 of IPv4 and the /48 of IPv6.' }),
    fields: Type.Array(Closed({ path: Text(500), action: PiiActionSchema }), { maxItems: 200, description: 'Rules for single fields.' }),
    detect: Type.Array(OneOf(['email', 'phone', 'card', 'iban']), { maxItems: 200, description: 'Personal data to look for in all text.' }),
    detect_action: PiiActionSchema,
    url_params: Type.Array(Text(200), { maxItems: 200, description: 'Query parameters to remove from every URL.' }),
  },
  session: { timeout_minutes: Type.Number({ exclusiveMinimum: 0, maximum: 1_440 }) },
  identity: {
    remember_traits: Type.Array(Text(200), {
      maxItems: 50,
      description: 'Traits to remember and to add to later events of the visitor. Values of more than 2,000 characters are not remembered.',
    }),
    click_id_days: Type.Record(Type.String(), Type.Number({ minimum: 0, maximum: 400 }), {
      description:
        'Days a click id is remembered, by its parameter (`gclid`), `default` for the others. 0: not at all. Absent: as long as its vendor accepts it, 90 days for most.',
    }),
  },
  custom_js: {
    enabled: Type.Boolean(),
    code: Type.String({ maxLength: 100_000, description: 'JavaScript: `function transform(event, { parameters }) { return event }`.' }),
  },
};
const RoutingRules = Type.Array(
  Closed({
    condition: Type.Unsafe<Condition>({
      type: 'object',
      additionalProperties: true,
      description: 'As in the filters of mappings: `{field, op, value}`, grouped by `all`, `any`, `not`.',
    }),
    action: OneOf(['drop', 'pass']),
    pipeline_ids: Type.Optional(Type.Array(Text(64), { maxItems: 1_000, description: 'The pipelines that get the event. Absent: all.' })),
  }),
  { maxItems: 200, description: 'The first rule that matches decides.' },
);

function each<Wrapped extends { [K in keyof typeof SECTIONS]: TObject }>(wrap: (section: TProperties) => TObject): Wrapped {
  return Object.fromEntries(Object.entries(SECTIONS).map(([name, section]) => [name, wrap(section)])) as Wrapped;
}
type Whole = { [K in keyof typeof SECTIONS]: TObject<(typeof SECTIONS)[K]> };
type Sent = { [K in keyof typeof SECTIONS]: TObject<ReturnType<typeof AllOptional<(typeof SECTIONS)[K]>>> };

export const DataLayerConfigSchema = named('DataLayerConfig', Closed({ ...each<Whole>(Closed), routing_rules: RoutingRules }));
/** Sections that are left out stay as they are; missing keys of a section take their defaults. */
export const DataLayerConfigInput = named(
  'DataLayerConfigInput',
  Closed(AllOptional({ ...each<Sent>((section) => Closed(AllOptional(section))), routing_rules: RoutingRules })),
);
export type DataLayerConfig = Static<typeof DataLayerConfigSchema>;
