/**
 * The mapping builder: an event, the rows, and the exact request, recomputed as you type by the delivery code itself. A change becomes a new
 * revision; pipelines keep the revision they have pinned until they are moved.
 */

import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { TRANSFORMS } from '@firsthand/core/transforms/index.ts';
import { Alert, Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { modals } from '@mantine/modals';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useDeferredValue, useMemo, useState } from 'react';
import { api, call } from '../../api.ts';
import { Editor } from '../../components/editor.tsx';
import { Json } from '../../components/json.tsx';
import { Page } from '../../components/page.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { Tag, words } from '../../components/tag.tsx';
import { number } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { useMay } from '../../session/use-session.ts';
import {
  addEvent,
  addRow,
  type Config,
  differences,
  faultPath,
  faultsAt,
  type MappingRow,
  moveRow,
  removeRow,
  removeSection,
  sectionsOf,
  setRow,
} from './draft.ts';
import classes from './mapping.module.css';
import { sampleEvent, useRecentEvents } from './recent-events.ts';
import { type Compiled, compareOn, compileDraft, type Fault, loadDefinition, rehearse, type TrialResult } from './rehearse.ts';
import { Row } from './row.tsx';

interface Revision {
  revision_number: number;
  config: Config;
}
interface Template {
  id: string;
  name: string;
  vendor: string;
  latest_revision: Revision | null;
  used_by: string[];
}

export function MappingPage() {
  const { templateId } = useParams({ strict: false }) as { templateId: string };
  const { revision } = useSearch({ strict: false }) as { revision?: string };
  const template = useQuery({
    queryKey: ['template', templateId],
    queryFn: () => call(api.GET('/v1/admin/integration-templates/{id}', { params: { path: { id: templateId } } })),
  });
  const wanted = revision === undefined ? template.data?.latest_revision?.revision_number : Number(revision);
  const base = useQuery({
    queryKey: ['revision', templateId, wanted],
    enabled: wanted !== undefined,
    queryFn: () =>
      call(
        api.GET('/v1/admin/integration-templates/{id}/revisions/{number}', {
          params: { path: { id: templateId, number: wanted as never } },
        }),
      ),
  });
  if (template.isPending || (base.isPending && wanted !== undefined)) return <Loading what="the mapping" />;
  if (template.isError) return <Failed error={template.error} retry={() => void template.refetch()} />;
  if (base.isError) return <Failed error={base.error} retry={() => void base.refetch()} />;
  if (base.data === undefined) return <Failed error={new Error('The template has no revision yet.')} />;
  return <Builder key={`${templateId} ${base.data.revision_number}`} template={template.data} base={base.data} />;
}

function Builder({ template, base }: { template: Template; base: Revision }) {
  const may = useMay('editor');
  const loaded = useQuery({
    queryKey: ['vendor-definition', template.vendor],
    queryFn: () => loadDefinition(template.vendor),
    staleTime: Infinity,
  });
  const definition = loaded.data ?? undefined;
  const [config, setConfig] = useState<Config>(base.config);
  const [filter, setFilter] = useState('');
  const [saving, { open: askSave, close: endSave }] = useDisclosure();
  const recent = useRecentEvents(template.used_by[0]);
  const [event, setEvent] = useState<CanonicalEvent>(sampleEvent);
  const shown = useDeferredValue(config);
  const started = performance.now();
  const compiled = useMemo<Compiled | undefined>(
    () => (definition === undefined ? undefined : compileDraft(definition, shown, {})),
    [definition, shown],
  );
  const result = useMemo(() => (compiled?.ok ? rehearse(compiled.vendor, event, Date.now()) : undefined), [compiled, event]);
  const took = performance.now() - started;
  const faults: Fault[] = compiled === undefined || compiled.ok ? [] : compiled.faults;
  const changes = useMemo(() => differences(base.config, config), [base.config, config]);
  const sections = useMemo(() => sectionsOf(config), [config]);
  const sources = useMemo(() => pathsOf(event), [event]);
  const transforms = useMemo(() => [...TRANSFORMS.keys()].sort(), []);

  if (definition === undefined) return <Failed error={new Error(`The catalog has no vendor ${template.vendor}.`)} />;
  const inRows = new Set(sections.flatMap(({ path, rows }) => rows.flatMap((_, at) => faultsAt(faults, [...path, at]))));
  const elsewhere = faults.filter((fault) => !inRows.has(fault));
  return (
    <Page
      title={template.name}
      marks={
        <Tag
          tone={changes.length > 0 ? 'info' : 'neutral'}
        >{`revision ${base.revision_number}${changes.length > 0 ? ` · ${changes.length} changes` : ''}`}</Tag>
      }
      about={`${definition.name}, used by ${number(template.used_by.length)} ${template.used_by.length === 1 ? 'pipeline' : 'pipelines'}`}
      actions={
        <>
          <RevisionSelect template={template} current={base.revision_number} />
          <Button variant="default" disabled={changes.length === 0} onClick={() => setConfig(base.config)}>
            Discard
          </Button>
          <Button
            disabled={!may || changes.length === 0 || faults.length > 0}
            onClick={askSave}
            title={may ? undefined : 'Needs the role editor'}
          >
            Save as a revision …
          </Button>
        </>
      }
    >
      {compiled?.ok === true && changes.length > 0 && (
        <Trial definitionKey={template.vendor} before={base.config} after={compiled} events={recent.events} />
      )}
      {elsewhere.map(({ field, message }) => (
        <Alert key={`${field} ${message}`} color="red" mb="xs">
          <b>{field}</b> {message}
        </Alert>
      ))}
      <div className={classes.panes}>
        <section className={`panel ${classes.pane}`} aria-label="Event">
          <div className={classes.paneHead}>
            Event
            <Select
              size="xs"
              w={170}
              aria-label="Choose an event"
              allowDeselect={false}
              value={event.event_id}
              data={[
                { value: sampleEvent.event_id, label: 'Sample order' },
                ...recent.events.map((one) => ({
                  value: one.event_id,
                  label: `${one.event ?? one.type} · ${one.timestamp.slice(11, 19)}`,
                })),
              ]}
              onChange={(id) => setEvent(recent.events.find((one) => one.event_id === id) ?? sampleEvent)}
            />
          </div>
          <EventEditor key={event.event_id} event={event} onChange={setEvent} />
        </section>
        <section className={`panel ${classes.pane}`} aria-label="Mapping">
          <div className={classes.paneHead}>
            Mapping
            <TextInput
              size="xs"
              w={160}
              aria-label="Filter rows"
              placeholder="Filter rows"
              value={filter}
              onChange={({ currentTarget }) => setFilter(currentTarget.value)}
            />
          </div>
          <div className={classes.rows}>
            {sections.map((section) => (
              <SectionRows
                key={faultPath(section.path)}
                section={section}
                filter={filter}
                base={base.config}
                faults={faults}
                sources={sources}
                transforms={transforms}
                disabled={!may}
                setConfig={setConfig}
              />
            ))}
            <NewEvent disabled={!may} onAdd={(name) => setConfig((old) => addEvent(old, name))} />
            <Defaults
              config={config}
              disabled={!may}
              onChange={(action) => setConfig((old) => ({ ...old, defaults: { ...((old.defaults ?? {}) as object), action } }))}
              fallback={definition.default_action ?? 'drop'}
            />
          </div>
        </section>
        <section className={`panel ${classes.pane}`} aria-label="Request">
          <div className={classes.paneHead}>
            Request <Tag tone="ok">{`computed in ${took.toFixed(0)} ms`}</Tag>
          </div>
          <div className={classes.body}>
            {result === undefined ? (
              <p className="dim">Mend the faults to see the request.</p>
            ) : result.kind === 'requests' ? (
              result.requests.map(({ method, url, headers, body }, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: requests of one event have an order and no id
                <div key={at} style={{ marginBottom: 12 }}>
                  <p className="mono" style={{ overflowWrap: 'anywhere' }}>
                    <b>{method}</b> {url}
                  </p>
                  <p className="mono dim" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-line' }}>
                    {Object.entries(headers)
                      .map(([name, value]) => `${name}: ${value}`)
                      .join('\n')}
                  </p>
                  {body !== null && <Json value={body} label="Body of the request" />}
                </div>
              ))
            ) : (
              <p>
                <Tag tone={result.kind === 'failed' ? 'bad' : 'warn'}>{result.kind}</Tag> {words(result.reason)}
              </p>
            )}
          </div>
        </section>
      </div>
      <Modal opened={saving} onClose={endSave} title={`Save ${changes.length} changes as a revision`}>
        <Save template={template} config={config} changes={changes} onDone={endSave} />
      </Modal>
    </Page>
  );
}

function SectionRows({
  section,
  filter,
  base,
  faults,
  sources,
  transforms,
  disabled,
  setConfig,
}: {
  section: ReturnType<typeof sectionsOf>[number];
  filter: string;
  base: Config;
  faults: Fault[];
  sources: readonly string[];
  transforms: readonly string[];
  disabled: boolean;
  setConfig: React.Dispatch<React.SetStateAction<Config>>;
}) {
  const { path, title, note, rows } = section;
  const key = faultPath(path);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for `path`, which is a new list each time
  const onChange = useCallback((at: number, row: MappingRow) => setConfig((old) => setRow(old, path, at, row)), [key]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const onRemove = useCallback((at: number) => setConfig((old) => removeRow(old, path, at)), [key]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const onMove = useCallback((at: number, by: number) => setConfig((old) => moveRow(old, path, at, by)), [key]);
  const before = useMemo(
    () =>
      new Set(
        sectionsOf(base)
          .find((one) => faultPath(one.path) === key)
          ?.rows.map((row) => JSON.stringify(row)),
      ),
    [base, key],
  );
  const wanted = filter.toLowerCase();
  const matches = (row: MappingRow) => wanted === '' || `${String(row.source ?? '')} ${row.target}`.toLowerCase().includes(wanted);
  if (wanted !== '' && !rows.some(matches)) return null;
  return (
    <div>
      <div className={classes.sectionHead}>
        <span>
          <b>{title}</b> <span className="dim">{`${rows.length} rows${note === '' ? '' : ` · ${note}`}`}</span>
        </span>
        <Group gap={4}>
          {path[0] === 'events' && (
            <Button
              size="compact-xs"
              variant="subtle"
              color="red"
              disabled={disabled}
              onClick={() =>
                modals.openConfirmModal({
                  title: `Remove ${title}?`,
                  children: 'Its events then follow the setting “everything else”.',
                  labels: { confirm: 'Remove', cancel: 'Keep' },
                  onConfirm: () => setConfig((old) => removeSection(old, path)),
                })
              }
            >
              Remove
            </Button>
          )}
          <Button size="compact-xs" variant="default" disabled={disabled} onClick={() => setConfig((old) => addRow(old, path))}>
            Add a row
          </Button>
        </Group>
      </div>
      {rows.map((row, at) =>
        matches(row) ? (
          <Row
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no id; a moved row keeps its fields' values from the config
            key={at}
            row={row}
            at={at}
            section={title}
            faults={faultsAt(faults, [...path, at])}
            changed={!before.has(JSON.stringify(row))}
            sources={sources}
            transforms={transforms}
            disabled={disabled}
            onChange={onChange}
            onRemove={onRemove}
            onMove={onMove}
          />
        ) : null,
      )}
    </div>
  );
}

function NewEvent({ disabled, onAdd }: { disabled: boolean; onAdd: (name: string) => void }) {
  const [name, setName] = useState('');
  return (
    <form
      className={classes.sectionHead}
      style={{ position: 'static' }}
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '') onAdd(name.trim());
        setName('');
      }}
    >
      <TextInput
        size="xs"
        aria-label="Name of an event to map"
        placeholder="Map another event: its name, or @page"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        disabled={disabled}
        style={{ flex: 1 }}
      />
      <Button type="submit" variant="default" disabled={disabled || name.trim() === ''}>
        Map it
      </Button>
    </form>
  );
}

function Defaults({
  config,
  disabled,
  fallback,
  onChange,
}: {
  config: Config;
  disabled: boolean;
  fallback: string;
  onChange: (action: string) => void;
}) {
  const action = ((config.defaults ?? {}) as { action?: string }).action ?? fallback;
  return (
    <div className={classes.sectionHead} style={{ position: 'static' }}>
      <b>Everything else</b>
      <Select
        size="xs"
        w={220}
        aria-label="What happens to other events"
        allowDeselect={false}
        disabled={disabled}
        value={action}
        data={[
          { value: 'drop', label: 'is dropped' },
          { value: 'pass_through', label: 'is passed through as it is' },
          { value: 'map', label: 'is mapped with defaults' },
        ]}
        onChange={(next) => next !== null && onChange(next)}
      />
    </div>
  );
}

function EventEditor({ event, onChange }: { event: CanonicalEvent; onChange: (event: CanonicalEvent) => void }) {
  const [text, setText] = useState(() => JSON.stringify(event, null, 2));
  const [fault, setFault] = useState<string>();
  function edit(next: string) {
    setText(next);
    try {
      const parsed = JSON.parse(next) as CanonicalEvent;
      setFault(undefined);
      onChange({ ...parsed, event_id: event.event_id });
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    }
  }
  return (
    <div className={classes.body}>
      <Editor label="Event" language="json" value={text} onChange={edit} minHeight={300} />
      {fault !== undefined && <Alert color="red">{fault}</Alert>}
    </div>
  );
}

function RevisionSelect({ template, current }: { template: Template; current: number }) {
  const navigate = useNavigate();
  const newest = template.latest_revision?.revision_number ?? current;
  return (
    <Select
      size="xs"
      w={130}
      aria-label="Revision"
      allowDeselect={false}
      value={String(current)}
      data={Array.from({ length: newest }, (_, at) => ({ value: String(newest - at), label: `Revision ${newest - at}` }))}
      onChange={(next) =>
        void navigate({
          to: '/templates/$templateId',
          params: { templateId: template.id },
          search: next === null || Number(next) === newest ? {} : { revision: next },
        })
      }
    />
  );
}

/** Both revisions over the last events of the first pipeline that uses the template. */
function Trial({
  definitionKey,
  before,
  after,
  events,
}: {
  definitionKey: string;
  before: Config;
  after: Compiled;
  events: CanonicalEvent[];
}) {
  const [result, setResult] = useState<TrialResult>();
  const [open, { open: show, close }] = useDisclosure();
  const run = useMutation({
    mutationFn: async () => {
      const definition = await loadDefinition(definitionKey);
      const old = definition && compileDraft(definition, before, {});
      if (old?.ok !== true || !after.ok) throw new Error('The revision in use does not compile; there is nothing to compare with.');
      return await compareOn(events, old.vendor, after.vendor, new AbortController().signal);
    },
    onSuccess: setResult,
    onError: (error) => notifications.show({ color: 'red', message: failureText(error) }),
  });
  return (
    <section className={`panel ${classes.bar}`} aria-label="Effect on recent events">
      <Button variant="default" onClick={() => run.mutate()} loading={run.isPending} disabled={events.length === 0}>
        {`Try on the last ${number(events.length)} events`}
      </Button>
      {result !== undefined && (
        <>
          <span>
            <b>{number(result.same)}</b> unchanged
          </span>
          <span>
            <b>{number(result.changed)}</b> changed
          </span>
          <span style={{ color: result.newlyDropped > 0 ? 'var(--bad)' : undefined }}>
            <b>{number(result.newlyDropped)}</b> newly dropped
          </span>
          <span>
            <b>{number(result.noLongerDropped)}</b> no longer dropped
          </span>
          {result.examples.length > 0 && (
            <Button variant="subtle" onClick={show}>
              See examples
            </Button>
          )}
        </>
      )}
      <Modal opened={open} onClose={close} title="Examples" size="90%">
        <Stack gap="md">
          {result?.examples.map(({ event, before: old, after: next }) => (
            <div key={event.event_id}>
              <b>{event.event ?? event.type}</b> <span className="mono dim">{event.event_id}</span>
              <Group grow align="flex-start" mt={4}>
                <Json value={old} label="Before" maxHeight={320} />
                <Json value={next} label="After" maxHeight={320} />
              </Group>
            </div>
          ))}
        </Stack>
      </Modal>
    </section>
  );
}

function Save({ template, config, changes, onDone }: { template: Template; config: Config; changes: string[]; onDone: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [summary, setSummary] = useState('');
  const save = useMutation({
    mutationFn: () =>
      call(
        api.POST('/v1/admin/integration-templates/{id}/revisions', {
          params: { path: { id: template.id } },
          body: { config, ...(summary.trim() === '' ? {} : { change_summary: summary.trim() }) },
        }),
      ),
    onSuccess: async ({ revision_number }) => {
      onDone();
      notifications.show({
        title: `Saved as revision ${revision_number}`,
        message: 'Pipelines keep the revision they have pinned. Move the pin on the pipeline’s integration.',
      });
      await queries.invalidateQueries({ queryKey: ['template', template.id] });
      void navigate({ to: '/templates/$templateId', params: { templateId: template.id }, search: {} });
    },
    onError: (error) => notifications.show({ color: 'red', title: 'Not saved', message: failureText(error) }),
  });
  return (
    <Stack gap="sm">
      <ul className="mono" style={{ margin: 0, paddingLeft: 16, maxHeight: 200, overflow: 'auto' }}>
        {changes.map((path) => (
          <li key={path}>{path}</li>
        ))}
      </ul>
      <TextInput
        label="Summary"
        description="What changed, for whoever reads the history."
        data-autofocus
        value={summary}
        onChange={({ currentTarget }) => setSummary(currentTarget.value)}
      />
      <Button size="sm" onClick={() => save.mutate()} loading={save.isPending}>
        Save
      </Button>
    </Stack>
  );
}

/** Paths of the event's own fields, for completion; lists as `[*]`. */
export function pathsOf(value: unknown, path = '', found: string[] = []): string[] {
  if (Array.isArray(value)) {
    if (value.length > 0) pathsOf(value[0], `${path}[*]`, found);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) pathsOf(inner, path === '' ? key : `${path}.${key}`, found);
  } else if (path !== '') found.push(path);
  return [...new Set(found)];
}
