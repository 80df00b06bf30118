/** The form of each step, in the order in which events go through them. Faults of the API stand at their fields. */
import type { DataLayerConfig } from '@firsthand/core/config/resources.ts';
import {
  Accordion,
  Alert,
  Button,
  Checkbox,
  Group,
  MultiSelect,
  NumberInput,
  Select,
  Stack,
  Switch,
  TagsInput,
  TextInput,
} from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import { Editor } from '../../components/editor.tsx';
import { Tag } from '../../components/tag.tsx';
import { lineFault } from '../../components/text-faults.ts';
import classes from './data-layer.module.css';
import { type Faults, isIn, messageAt, sectionOf } from './faults.ts';
import { KeyValueTable } from './key-value-table.tsx';
import { RoutingRules } from './routing-rules.tsx';
import { SAMPLES, type SampleKey } from './samples.ts';
import { useDataLayerSearch } from './search.ts';

/** In the address where every section is closed. */
const NONE = 'none';
const CANONICAL = ['essential', 'functional', 'analytics', 'marketing', 'advertising'];
const PII_ACTIONS = [
  { value: 'hash', label: 'Hash (SHA-256)' },
  { value: 'redact', label: 'Redact' },
  { value: 'drop', label: 'Remove' },
];
/** Faults that an input of the form shows. Others stand at the end of their section. */
const HAS_INPUT = [
  'consent.mapping',
  'consent.default',
  'bot_filtering.action',
  'bot_filtering.custom_patterns',
  'pii_rules.ip',
  'pii_rules.fields',
  'pii_rules.detect',
  'pii_rules.detect_action',
  'pii_rules.url_params',
  'session.timeout_minutes',
  'identity.remember_traits',
  'identity.click_id_days',
  'custom_js.code',
];
const isShown = (field: string): boolean =>
  HAS_INPUT.some((path) => isIn(field, path)) || /^routing_rules\[\d+\]\.(action|pipeline_ids|condition)/.test(field);

export interface SectionsProps {
  config: DataLayerConfig;
  faults: Faults;
  disabled: boolean;
  set: <K extends keyof DataLayerConfig>(section: K, next: Partial<DataLayerConfig[K]>) => void;
}

export function Sections({ config, faults, disabled, set }: SectionsProps) {
  const [{ open }, setSearch] = useDataLayerSearch();
  const at = (path: string, entries?: readonly unknown[]) => messageAt(faults, path, entries);
  const { code } = config.custom_js;
  const message = faults['custom_js.code'];
  const codeFaults = useMemo(() => (message === undefined ? [] : [lineFault(code, message)]), [code, message]);
  const shared = { faults };
  return (
    <Accordion
      multiple
      // A section with a fault is open, so that the fault is seen.
      value={[...new Set([...open, ...Object.keys(faults).map(sectionOf)])]}
      onChange={(next) => setSearch({ open: next.join(',') || NONE })}
      // A panel that is still growing would cut off rows that are added to it, for good where motion is reduced.
      transitionDuration={0}
      variant="separated"
      className={classes.sections}
    >
      <Section {...shared} id="consent" title="Consent" note="Raw categories of your consent tool become the canonical ones.">
        <KeyValueTable
          disabled={disabled}
          label="Category mapping"
          keyLabel="Raw category"
          addLabel="Add a category"
          value={config.consent.mapping}
          initial={CANONICAL[0] ?? ''}
          error={(key) => at(`consent.mapping.${key}`)}
          field={(chosen, onChange, row) => (
            <Select
              disabled={disabled}
              size="xs"
              w={150}
              aria-label={`Canonical category ${row + 1}`}
              allowDeselect={false}
              data={CANONICAL.includes(chosen) ? CANONICAL : [...CANONICAL, chosen]}
              value={chosen}
              onChange={(next) => onChange(next ?? chosen)}
            />
          )}
          onChange={(mapping) => set('consent', { mapping })}
        />
        <MultiSelect
          disabled={disabled}
          label="Granted when an event carries no consent"
          error={at('consent.default')}
          description="Leave empty unless the law of your country permits it."
          data={CANONICAL}
          value={Object.entries(config.consent.default)
            .filter(([, granted]) => granted)
            .map(([category]) => category)}
          onChange={(granted) =>
            set('consent', {
              default: Object.fromEntries(
                CANONICAL.filter((one) => granted.includes(one) || Object.hasOwn(config.consent.default, one)).map((one) => [
                  one,
                  granted.includes(one),
                ]),
              ),
            })
          }
        />
        <Switch
          disabled={disabled}
          label="Honour Global Privacy Control"
          checked={config.consent.honour_gpc}
          onChange={({ currentTarget }) => set('consent', { honour_gpc: currentTarget.checked })}
        />
      </Section>
      <Section {...shared} id="bot_filtering" sample="crawler" title="Bots" note="Crawlers and scripts, by their user agent.">
        <Select
          disabled={disabled}
          label="What happens to them"
          error={at('bot_filtering.action')}
          allowDeselect={false}
          data={[
            { value: 'flag', label: 'Flag them' },
            { value: 'drop', label: 'Drop them' },
            { value: 'allow', label: 'Nothing' },
          ]}
          value={config.bot_filtering.action}
          onChange={(action) => set('bot_filtering', { action: action as 'flag' })}
        />
        <Switch
          disabled={disabled}
          label="A missing user agent is a bot"
          checked={config.bot_filtering.block_empty_user_agent}
          onChange={({ currentTarget }) => set('bot_filtering', { block_empty_user_agent: currentTarget.checked })}
        />
        <TagsInput
          disabled={disabled}
          label="Further patterns"
          error={at('bot_filtering.custom_patterns', config.bot_filtering.custom_patterns)}
          description="Regular expressions on the user agent."
          value={[...config.bot_filtering.custom_patterns]}
          onChange={(custom_patterns) => set('bot_filtering', { custom_patterns })}
        />
      </Section>
      <Section {...shared} id="pii_rules" title="Privacy" note="What is hashed, redacted or removed before anything is stored.">
        <Select
          disabled={disabled}
          label="IP address"
          error={at('pii_rules.ip')}
          allowDeselect={false}
          data={[
            { value: 'keep', label: 'Keep' },
            { value: 'truncate', label: 'Truncate (/24, /48)' },
            { value: 'drop', label: 'Remove' },
          ]}
          value={config.pii_rules.ip}
          onChange={(ip) => set('pii_rules', { ip: ip as 'keep' })}
        />
        <FieldRules
          disabled={disabled}
          value={config.pii_rules.fields}
          faults={faults}
          onChange={(fields) => set('pii_rules', { fields })}
        />
        <Checkbox.Group
          disabled={disabled}
          label="Look for these in every text"
          error={at('pii_rules.detect')}
          value={[...config.pii_rules.detect]}
          onChange={(detect) => set('pii_rules', { detect: detect as 'email'[] })}
        >
          <Group mt={4}>
            {['email', 'phone', 'card', 'iban'].map((kind) => (
              <Checkbox key={kind} value={kind} label={kind} />
            ))}
          </Group>
        </Checkbox.Group>
        <Select
          disabled={disabled}
          label="What happens to a match"
          error={at('pii_rules.detect_action')}
          allowDeselect={false}
          data={PII_ACTIONS}
          value={config.pii_rules.detect_action}
          onChange={(action) => set('pii_rules', { detect_action: action as 'hash' })}
        />
        <TagsInput
          disabled={disabled}
          label="Remove from every URL"
          error={at('pii_rules.url_params', config.pii_rules.url_params)}
          description="Names of query parameters."
          value={[...config.pii_rules.url_params]}
          onChange={(url_params) => set('pii_rules', { url_params })}
        />
      </Section>
      <Section {...shared} id="session" sample="returning" title="Sessions" note="A visitor who is away for longer starts a new session.">
        <NumberInput
          disabled={disabled}
          label="Minutes"
          error={at('session.timeout_minutes')}
          min={1}
          max={1440}
          value={config.session.timeout_minutes}
          onChange={(minutes) => set('session', { timeout_minutes: Number(minutes) })}
        />
      </Section>
      <Section
        {...shared}
        id="identity"
        sample="returning"
        title="Identity"
        note="After an identify, later events of that browser carry both ids."
      >
        <TagsInput
          disabled={disabled}
          label="Traits to remember"
          error={at('identity.remember_traits', config.identity.remember_traits)}
          description="Added to later events of the same visitor, for example email. None by default."
          value={[...config.identity.remember_traits]}
          onChange={(remember_traits) => set('identity', { remember_traits })}
        />
        <KeyValueTable
          disabled={disabled}
          label="Days that click ids are remembered"
          keyLabel="Click id"
          addLabel="Add a click id"
          placeholder="gclid, or default"
          value={config.identity.click_id_days}
          initial={90}
          error={(key) => at(`identity.click_id_days.${key}`)}
          field={(days, onChange, row) => (
            <NumberInput
              disabled={disabled}
              size="xs"
              w={110}
              aria-label={`Days of click id ${row + 1}`}
              min={0}
              max={400}
              value={days}
              onChange={(next) => onChange(Number(next))}
            />
          )}
          onChange={(click_id_days) => set('identity', { click_id_days })}
        />
        <span className="dim">
          Without an entry, as long as the vendor accepts it. <span className="mono">default</span> is every other one, 0 is not at all.
        </span>
      </Section>
      <Section {...shared} id="custom_js" title="Custom code" note="Runs on every event of the organisation, in a sandbox on the server.">
        <Switch
          disabled={disabled}
          label="Run it"
          checked={config.custom_js.enabled}
          onChange={({ currentTarget }) => set('custom_js', { enabled: currentTarget.checked })}
        />
        <Editor
          label="Custom code"
          language="javascript"
          readOnly={disabled}
          value={config.custom_js.code}
          onChange={(code) => set('custom_js', { code })}
          faults={codeFaults}
        />
      </Section>
      <Section {...shared} id="routing_rules" title="Routing" note="Events that go no further. The first rule that matches decides.">
        <RoutingRules
          disabled={disabled}
          value={config.routing_rules}
          faults={faults}
          onChange={(rules) => set('routing_rules', rules as never)}
        />
      </Section>
    </Accordion>
  );
}

interface SectionProps {
  id: string;
  title: string;
  note: string;
  faults: Faults;
  /** The sample that shows the effect of the section. */
  sample?: SampleKey;
  children: ReactNode;
}
function Section({ id, title, note, faults, sample, children }: SectionProps) {
  const [{ sample: shown }, setSearch] = useDataLayerSearch();
  const own = Object.entries(faults).filter(([field]) => isIn(field, id));
  return (
    <Accordion.Item value={id}>
      <Accordion.Control>
        <b>{title}</b> {own.length > 0 && <Tag tone="bad">{`${own.length} ${own.length === 1 ? 'error' : 'errors'}`}</Tag>}{' '}
        <span className="dim">{note}</span>
      </Accordion.Control>
      <Accordion.Panel>
        <Stack gap="sm">
          {children}
          {sample !== undefined && sample !== shown && (
            <button type="button" className={classes.link} onClick={() => setSearch({ sample })}>
              See the effect on: {SAMPLES[sample].label.toLowerCase()}
            </button>
          )}
          {own
            .filter(([field]) => !isShown(field))
            .map(([field, message]) => (
              <Alert key={field} color="red" role="alert">
                <b>{field.slice(id.length).replace(/^\./, '')}</b> {message}
              </Alert>
            ))}
        </Stack>
      </Accordion.Panel>
    </Accordion.Item>
  );
}

type Rule = DataLayerConfig['pii_rules']['fields'][number];
interface FieldRulesProps {
  value: readonly Rule[];
  faults: Faults;
  disabled: boolean;
  onChange: (rules: Rule[]) => void;
}
function FieldRules({ value, faults, disabled, onChange }: FieldRulesProps) {
  const replace = (at: number, next: Partial<Rule>) => onChange(value.map((rule, index) => (index === at ? { ...rule, ...next } : rule)));
  return (
    <div>
      <div className={classes.label}>Fields</div>
      {value.map((rule, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rules have no id, and their order is theirs
        <Group key={at} gap="xs" mb={4} wrap="nowrap" align="flex-start">
          <TextInput
            size="xs"
            disabled={disabled}
            error={messageAt(faults, `pii_rules.fields[${at}].path`)}
            aria-label={`Path of rule ${at + 1}`}
            placeholder="traits.email"
            value={rule.path}
            onChange={({ currentTarget }) => replace(at, { path: currentTarget.value })}
            style={{ flex: 1 }}
          />
          <Select
            size="xs"
            disabled={disabled}
            w={150}
            aria-label={`Action of rule ${at + 1}`}
            error={messageAt(faults, `pii_rules.fields[${at}].action`)}
            allowDeselect={false}
            data={PII_ACTIONS}
            value={rule.action}
            onChange={(action) => replace(at, { action: action as Rule['action'] })}
          />
          <Button
            variant="subtle"
            color="gray"
            disabled={disabled}
            aria-label={`Remove rule ${at + 1}`}
            onClick={() => onChange(value.filter((_, index) => index !== at))}
          >
            ✕
          </Button>
        </Group>
      ))}
      <Button variant="default" disabled={disabled} onClick={() => onChange([...value, { path: '', action: 'hash' }])}>
        Add a field
      </Button>
    </div>
  );
}
