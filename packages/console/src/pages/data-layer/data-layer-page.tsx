/** Organisation-level processing as forms, with their effect on a sample event beside them. Two people who edit at once see each other's change. */

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
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useState } from 'react';
import { afterSave } from '../../after-save.ts';
import { api, call } from '../../api.ts';
import { Conflict, isConflict } from '../../components/conflict.tsx';
import { Editor } from '../../components/editor.tsx';
import { Page } from '../../components/page.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { dateTime } from '../../format.ts';
import { fieldErrors } from '../../forms.ts';
import { useMay } from '../../session/use-session.ts';
import { useUnsaved } from '../../use-unsaved.ts';
import classes from './data-layer.module.css';
import { KeyValueTable } from './key-value-table.tsx';
import { PreviewPanel } from './preview-panel.tsx';

interface Stored {
  config: DataLayerConfig;
  version: number;
  updated_at: string | null;
}
const dataLayerQuery = {
  queryKey: ['data-layer'],
  queryFn: async () => (await call(api.GET('/v1/admin/data-layer', {}))) as unknown as Stored, // OpenAPI has no type for a rule's condition
};
/** What the API refused of the last save, shown in the section that it concerns. */
const Faults = createContext<Record<string, string>>({});
const SECTIONS = ['consent', 'bot_filtering', 'pii_rules', 'session', 'identity', 'custom_js'];
const isIn = (field: string, id: string): boolean => field === `config.${id}` || field.startsWith(`config.${id}.`);
const CANONICAL = ['essential', 'functional', 'analytics', 'marketing', 'advertising'];

export function DataLayerPage() {
  const query = useQuery(dataLayerQuery);
  if (query.isPending) return <Loading what="the data layer" />;
  if (query.isLoadingError) return <Failed error={query.error} retry={() => void query.refetch()} />;
  return <Form first={query.data} />;
}

/** Keeps what it started from: a newer version that is read meanwhile must not replace what is being typed. */
function Form({ first }: { first: Stored }) {
  const queries = useQueryClient();
  const [stored, setStored] = useState(first);
  const may = useMay('admin');
  const [config, setConfig] = useState(stored.config);
  const [conflict, setConflict] = useState<Stored>();
  const dirty = JSON.stringify(config) !== JSON.stringify(stored.config);
  useUnsaved(dirty);
  const set = <K extends keyof DataLayerConfig>(section: K, next: Partial<DataLayerConfig[K]>) =>
    setConfig((old) => ({ ...old, [section]: Array.isArray(old[section]) ? next : { ...old[section], ...next } }));
  const save = useMutation({
    mutationFn: (version: number) =>
      call(
        api.PUT('/v1/admin/data-layer', {
          params: { header: { 'if-match': String(version) } } as never,
          body: { config } as never,
          headers: { 'if-match': String(version) },
        }),
      ),
    onMutate: () => config,
    onSuccess: async (_saved, _version, sent) => {
      notifications.show({ message: 'Saved. New events are processed this way within five seconds.' });
      const now = await queries.fetchQuery({ ...dataLayerQuery, staleTime: 0 });
      setStored(now);
      setConfig((typed) => afterSave(sent, typed, now.config));
      setConflict(undefined);
    },
    onError: async (error) => {
      if (isConflict(error)) setConflict(await dataLayerQuery.queryFn());
    },
  });
  /** By the API's field, for example `config.pii_rules.fields[0].path`. */
  const faults = save.isError && !isConflict(save.error) ? fieldErrors(save.error, 'config') : {};
  const general = Object.entries(faults).filter(([field]) => !SECTIONS.some((id) => isIn(field, id)));
  return (
    <Page
      title="Data layer"
      about={`What happens to every event of the organisation, in this order. ${stored.updated_at === null ? 'Never changed.' : `Changed ${dateTime(stored.updated_at)}.`}`}
      actions={
        <>
          <Button variant="default" disabled={!dirty} onClick={() => setConfig(stored.config)}>
            Discard
          </Button>
          <Button
            disabled={!may || !dirty || conflict !== undefined}
            loading={save.isPending}
            onClick={() => save.mutate(stored.version)}
            title={may ? undefined : 'Needs the role admin'}
          >
            Save
          </Button>
        </>
      }
    >
      {conflict !== undefined && (
        <Conflict
          what="the data layer"
          theirs={conflict.config}
          mine={config}
          busy={save.isPending}
          onKeepMine={() => save.mutate(conflict.version)}
          onTakeTheirs={() => {
            setStored(conflict);
            setConfig(conflict.config);
            setConflict(undefined);
          }}
        />
      )}
      {general.map(([field, message]) => (
        <Alert key={field} color="red" role="alert" title="Not saved" mb="md">
          {message}
        </Alert>
      ))}
      <div className={classes.columns}>
        <Faults value={faults}>
          <Accordion multiple defaultValue={['consent', 'pii_rules']} variant="separated" className={classes.sections}>
            <Section id="consent" title="Consent" note="Raw categories of your consent tool become the canonical ones.">
              <KeyValueTable
                label="Category mapping"
                keyLabel="Raw category"
                valueLabel="Canonical category"
                value={config.consent.mapping}
                options={CANONICAL}
                onChange={(mapping) => set('consent', { mapping })}
              />
              <MultiSelect
                label="Granted where an event says nothing"
                description="Leave empty unless the law of your country lets you."
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
                label="Honour Global Privacy Control"
                checked={config.consent.honour_gpc}
                onChange={({ currentTarget }) => set('consent', { honour_gpc: currentTarget.checked })}
              />
            </Section>
            <Section id="bot_filtering" title="Bots" note="Crawlers and scripts, by their user agent.">
              <Select
                label="What happens to them"
                allowDeselect={false}
                data={['flag', 'drop', 'allow']}
                value={config.bot_filtering.action}
                onChange={(action) => set('bot_filtering', { action: action as 'flag' })}
              />
              <Switch
                label="A missing user agent is a bot"
                checked={config.bot_filtering.block_empty_user_agent}
                onChange={({ currentTarget }) => set('bot_filtering', { block_empty_user_agent: currentTarget.checked })}
              />
              <TagsInput
                label="Further patterns"
                description="Regular expressions on the user agent."
                value={[...config.bot_filtering.custom_patterns]}
                onChange={(custom_patterns) => set('bot_filtering', { custom_patterns })}
              />
            </Section>
            <Section id="pii_rules" title="Privacy" note="What is hashed, redacted or removed before anything is stored.">
              <Select
                label="IP address"
                allowDeselect={false}
                data={[
                  { value: 'keep', label: 'Keep' },
                  { value: 'truncate', label: 'Truncate (/24, /48)' },
                  { value: 'drop', label: 'Remove' },
                ]}
                value={config.pii_rules.ip}
                onChange={(ip) => set('pii_rules', { ip: ip as 'keep' })}
              />
              <FieldRules value={config.pii_rules.fields} onChange={(fields) => set('pii_rules', { fields })} />
              <Checkbox.Group
                label="Look for these in every text"
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
                label="… and"
                allowDeselect={false}
                data={['hash', 'redact', 'drop']}
                value={config.pii_rules.detect_action}
                onChange={(action) => set('pii_rules', { detect_action: action as 'hash' })}
              />
              <TagsInput
                label="Remove from every URL"
                description="Names of query parameters."
                value={[...config.pii_rules.url_params]}
                onChange={(url_params) => set('pii_rules', { url_params })}
              />
            </Section>
            <Section id="session" title="Sessions" note="A visitor who is away for longer starts a new session.">
              <NumberInput
                label="Minutes"
                min={1}
                max={1440}
                value={config.session.timeout_minutes}
                onChange={(minutes) => set('session', { timeout_minutes: Number(minutes) })}
              />
            </Section>
            <Section id="identity" title="Identity" note="After an identify, later events of that browser carry both ids.">
              <TagsInput
                label="Traits to remember"
                description="Added to later events of the same visitor, for example email. None by default."
                value={[...config.identity.remember_traits]}
                onChange={(remember_traits) => set('identity', { ...config.identity, remember_traits })}
              />
            </Section>
            <Section id="custom_js" title="Custom code" note="Runs on every event of the organisation, in a sandbox on the server.">
              <Switch
                label="Run it"
                checked={config.custom_js.enabled}
                onChange={({ currentTarget }) => set('custom_js', { enabled: currentTarget.checked })}
              />
              <Editor
                label="Custom code"
                language="javascript"
                value={config.custom_js.code}
                onChange={(code) => set('custom_js', { code })}
              />
            </Section>
          </Accordion>
        </Faults>
        <PreviewPanel config={config} />
      </div>
    </Page>
  );
}

function Section({ id, title, note, children }: { id: string; title: string; note: string; children: React.ReactNode }) {
  const faults = Object.entries(useContext(Faults)).filter(([field]) => isIn(field, id));
  return (
    <Accordion.Item value={id}>
      <Accordion.Control>
        <b>{title}</b> {faults.length > 0 && <Tag tone="bad">not saved</Tag>} <span className="dim">{note}</span>
      </Accordion.Control>
      <Accordion.Panel>
        <Stack gap="sm">
          {children}
          {faults.map(([field, message]) => (
            <Alert key={field} color="red" role="alert">
              <b>{field.slice(`config.${id}.`.length)}</b> {message}
            </Alert>
          ))}
        </Stack>
      </Accordion.Panel>
    </Accordion.Item>
  );
}

type Rule = DataLayerConfig['pii_rules']['fields'][number];
function FieldRules({ value, onChange }: { value: readonly Rule[]; onChange: (rules: Rule[]) => void }) {
  const replace = (at: number, next: Partial<Rule>) => onChange(value.map((rule, index) => (index === at ? { ...rule, ...next } : rule)));
  return (
    <div>
      <div className={classes.label}>Fields</div>
      {value.map((rule, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rules have no id, and their order is theirs
        <Group key={at} gap="xs" mb={4} wrap="nowrap">
          <TextInput
            size="xs"
            aria-label={`Path of rule ${at + 1}`}
            placeholder="traits.email"
            value={rule.path}
            onChange={({ currentTarget }) => replace(at, { path: currentTarget.value })}
            style={{ flex: 1 }}
          />
          <Select
            size="xs"
            w={100}
            aria-label={`Action of rule ${at + 1}`}
            allowDeselect={false}
            data={['hash', 'redact', 'drop']}
            value={rule.action}
            onChange={(action) => replace(at, { action: action as Rule['action'] })}
          />
          <Button
            variant="subtle"
            color="gray"
            aria-label={`Remove rule ${at + 1}`}
            onClick={() => onChange(value.filter((_, index) => index !== at))}
          >
            ✕
          </Button>
        </Group>
      ))}
      <Button variant="default" onClick={() => onChange([...value, { path: '', action: 'hash' }])}>
        Add a field
      </Button>
    </div>
  );
}
