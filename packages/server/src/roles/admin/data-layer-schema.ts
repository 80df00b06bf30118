/** The organisation's processing as the API takes and shows it. Patterns, paths and conditions are checked by compiling them, in core. */
import { type TObject, type TProperties, Type } from 'typebox';
import { AllOptional, AnyObject, Body, Closed, Id, Nullable, OneOf, Timestamp } from '../../http/schema.ts';

const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const PiiAction = OneOf(['hash', 'redact', 'drop'], { description: 'hash: SHA-256 of the trimmed lower case. redact: `[redacted]`.' });

const SECTIONS = {
  consent: {
    mapping: Type.Record(Type.String(), Type.String(), { description: 'Raw category to canonical category.' }),
    default: Type.Record(Type.String(), Type.Boolean(), { description: 'What counts where an event says nothing of a category.' }),
    honour_gpc: Type.Boolean({ description: 'Global Privacy Control denies marketing and advertising.' }),
  },
  bot_filtering: {
    action: OneOf(['flag', 'drop', 'allow']),
    block_empty_user_agent: Type.Boolean(),
    custom_patterns: Type.Array(Text(1_000), { maxItems: 100 }),
  },
  pii_rules: {
    ip: OneOf(['keep', 'truncate', 'drop'], { description: 'truncate keeps the /24, of IPv6 the /48.' }),
    fields: Type.Array(Closed({ path: Text(500), action: PiiAction }), { maxItems: 200 }),
    detect: Type.Array(OneOf(['email', 'phone', 'card', 'iban']), { maxItems: 200 }),
    detect_action: PiiAction,
    url_params: Type.Array(Text(200), { maxItems: 200, description: 'Removed from every URL.' }),
  },
  session: { timeout_minutes: Type.Number({ exclusiveMinimum: 0, maximum: 1_440 }) },
  identity: { remember_traits: Type.Array(Text(200), { maxItems: 50 }) },
  custom_js: {
    enabled: Type.Boolean(),
    code: Type.String({ maxLength: 100_000, description: 'function transform(event, { parameters }) { return event }' }),
  },
};
const RoutingRules = Type.Array(
  Closed({
    condition: AnyObject({ description: 'As the filters of mappings: `{field, op, value}`, grouped by all, any, not.' }),
    action: OneOf(['drop', 'pass']),
    pipeline_ids: Type.Optional(Type.Array(Text(64), { maxItems: 1_000 })),
  }),
  { maxItems: 200, description: 'The first that matches decides.' },
);

function each<Wrapped extends { [K in keyof typeof SECTIONS]: TObject }>(wrap: (section: TProperties) => TObject): Wrapped {
  return Object.fromEntries(Object.entries(SECTIONS).map(([name, section]) => [name, wrap(section)])) as Wrapped;
}
type Whole = { [K in keyof typeof SECTIONS]: TObject<(typeof SECTIONS)[K]> };
type Sent = { [K in keyof typeof SECTIONS]: TObject<ReturnType<typeof AllOptional<(typeof SECTIONS)[K]>>> };

export const DataLayerAnswer = Type.Object({
  org_id: Id('org'),
  config: Closed({ ...each<Whole>(Closed), routing_rules: RoutingRules }),
  version: Type.Integer(),
  updated_at: Nullable(Timestamp),
  updated_by: Nullable(Type.String()),
});
export const DataLayerUpdate = Body(
  { config: Closed(AllOptional({ ...each<Sent>((section) => Closed(AllOptional(section))), routing_rules: RoutingRules })) },
  ['org_id', 'version', 'updated_at', 'updated_by'],
  { examples: [{ config: { bot_filtering: { action: 'drop' }, pii_rules: { ip: 'truncate' } } }] },
);
