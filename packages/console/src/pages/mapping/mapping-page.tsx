/**
 * The mapping builder: an event, the rows, and the exact request, recomputed as you type by the delivery code itself. A change becomes a new
 * revision; pipelines keep the revision they have pinned until they are moved.
 */
import { type CanonicalEvent, findByEventKey, eventKey as keyOf } from '@firsthand/core/event/canonical.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { Alert, Button, Modal, Select } from '@mantine/core';
import { useDebouncedValue, useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useDeferredValue, useMemo, useRef, useState } from 'react';
import { ConnectAccount } from '../../components/connect-account.tsx';
import { Page } from '../../components/page.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { number } from '../../format.ts';
import { pipelineQuery } from '../../queries.ts';
import { useMay } from '../../session/use-session.ts';
import { useUnsaved } from '../../use-unsaved.ts';
import { changesOf } from './changes.ts';
import { useChosenEvent } from './chosen-event.ts';
import { useCompletions } from './completions.ts';
import { type Config, faultsAt, LISTS, onlyEvent, rowsOf, type Section, sectionsOf, withValue } from './draft.ts';
import { EventPane } from './event-pane.tsx';
import { DRAFT, History } from './history.tsx';
import classes from './mapping.module.css';
import { Pins } from './pins.tsx';
import { TRIAL_PAGES, useRecentEvents } from './recent-events.ts';
import { type Compiled, compileDraft, type Fault, loadDefinition, rehearse } from './rehearse.ts';
import { type PinnedIntegration, RequestPane } from './request-pane.tsx';
import { RowsPane } from './rows-pane.tsx';
import { Save } from './save.tsx';
import { type Revision, revisionQuery, type Template, templateQuery, usesQuery } from './templates.ts';
import { Trial } from './trial.tsx';

/** Another template is another page: no state of the previous one may stay. */
export function MappingPage() {
  const { templateId } = useParams({ strict: false }) as { templateId: string };
  return <OneMapping key={templateId} templateId={templateId} />;
}

function OneMapping({ templateId }: { templateId: string }) {
  const { revision } = useSearch({ strict: false }) as { revision?: string };
  /** The revision that was saved last: the builder starts anew from it and offers to move pins. */
  const [saved, setSaved] = useState<number>();
  const template = useQuery(templateQuery(templateId));
  // The latest when the page was opened: a revision that somebody saves meanwhile must not replace what is being typed.
  const opened = useRef<number>(undefined);
  opened.current ??= template.data?.latest_revision?.revision_number;
  const latest = saved ?? opened.current;
  const base = useQuery(revisionQuery(templateId, revision === undefined ? latest : Number(revision)));
  const definition = useQuery({
    queryKey: ['vendor-definition', template.data?.vendor],
    enabled: template.data !== undefined,
    queryFn: () => loadDefinition(template.data?.vendor ?? ''),
    staleTime: Infinity,
  });
  if (template.isLoadingError) return <Failed error={template.error} retry={() => void template.refetch()} />;
  if (base.isLoadingError) return <Failed error={base.error} retry={() => void base.refetch()} />;
  if (definition.isLoadingError) return <Failed error={definition.error} retry={() => void definition.refetch()} />;
  if (template.data === undefined || base.data === undefined || definition.data === undefined) return <Loading what="the mapping" />;
  if (definition.data === null) return <Failed error={new Error(`The catalog has no vendor ${template.data.vendor}.`)} />;
  return (
    <Builder
      key={base.data.revision_number}
      template={template.data}
      base={base.data}
      definition={definition.data}
      latest={latest ?? base.data.revision_number}
      saved={saved}
      onSaved={setSaved}
    />
  );
}

function Builder({
  template,
  base,
  definition,
  latest,
  saved,
  onSaved,
}: {
  template: Template;
  base: Revision;
  definition: VendorDefinition;
  /** The latest revision that the user has seen. */
  latest: number;
  saved: number | undefined;
  onSaved: (revision: number | undefined) => void;
}) {
  const may = useMay('editor');
  const [config, setConfig] = useState<Config>(base.config);
  /** What was typed in an event, by the event. */
  const [typed, setTyped] = useState<{ of: string; event: CanonicalEvent }>();
  const [saving, { open: askSave, close: endSave }] = useDisclosure();
  const uses = useQuery(usesQuery(template.id));
  const integrations = uses.data ?? NO_INTEGRATIONS;
  const { integration: wanted, compare, pins } = useSearch({ strict: false }) as { integration?: string; compare?: string; pins?: string };
  const navigate = useNavigate();
  const setCompare = (next: string | undefined) =>
    void navigate({ to: '.', search: (old: object) => ({ ...old, compare: next }), replace: compare !== undefined } as never);
  const setPins = (next: string | undefined) =>
    void navigate({ to: '.', search: (old: object) => ({ ...old, pins: next }), replace: next === undefined } as never);
  // Several pipelines may use the template, each with its own revision, parameters and events.
  const integration = integrations.find(({ id }) => id === wanted) ?? integrations[0];
  const pipelineId = integration?.pipeline_id ?? template.used_by[0];
  const pipeline = useQuery({ ...pipelineQuery(pipelineId ?? ''), enabled: pipelineId !== undefined });
  const parameters = pipeline.data?.parameters ?? NO_PARAMETERS;
  const inUse = useQuery(revisionQuery(template.id, integration?.revision_number));
  const usedConfig = integration === undefined ? base.config : inUse.data?.config;
  const recent = useRecentEvents(pipelineId, TRIAL_PAGES);
  const chosen = useChosenEvent(pipelineId);
  const event = typed?.of === chosen.key ? typed.event : chosen.event;
  const onEvent = useCallback((next: CanonicalEvent) => setTyped({ of: chosen.key, event: next }), [chosen.key]);
  const completions = useCompletions(pipelineId, event);
  const shown = useDeferredValue(config);
  const shownEvent = useDeferredValue(event);
  const eventKey = entryOf(shown, shownEvent);
  // The request needs the rows of its own event only; a mapping has hundreds of others. All of them are compiled once typing pauses.
  const { result, took } = useMemo(() => {
    const started = performance.now();
    const made = compileDraft(definition, onlyEvent(shown, eventKey), parameters);
    const outcome = made.ok ? rehearse(made.vendor, shownEvent, Date.now()) : undefined;
    return { result: outcome, took: performance.now() - started };
  }, [definition, shown, parameters, shownEvent, eventKey]);
  const [settled] = useDebouncedValue(config, SETTLES_AFTER_MS);
  const compiled = useMemo<Compiled>(() => compileDraft(definition, settled, parameters), [definition, settled, parameters]);
  const faults: readonly Fault[] = compiled.ok ? NO_FAULTS : compiled.faults;
  const changes = useMemo(() => changesOf(base.config, shown), [base.config, shown]);
  const effective = useMemo(() => (usedConfig === undefined ? [] : changesOf(usedConfig, shown)), [usedConfig, shown]);
  const sections = useMemo(() => sectionsOf(config), [config]);
  useUnsaved(changes.length > 0, leavesDraft);
  const elsewhere = useMemo(() => faults.filter((fault) => !hasPlace(fault, sections, definition)), [faults, sections, definition]);
  const check = useCallback(
    ({ path, kind }: Section, entry: Config): Fault[] => {
      const next = withValue(config, path, entry);
      const made = compileDraft(definition, kind === 'event' ? onlyEvent(next, String(path[1])) : next, parameters);
      return made.ok ? [] : faultsAt(made.faults, path);
    },
    [config, definition, parameters],
  );
  return (
    <Page
      title={template.name}
      marks={
        <Tag tone={changes.length > 0 ? 'info' : 'neutral'}>
          {`revision ${base.revision_number}${changes.length > 0 ? ` · draft ${latest + 1}` : base.revision_number < latest ? ` of ${latest}` : ''}`}
        </Tag>
      }
      about={
        <>
          {definition.name}, used by{' '}
          <button type="button" className={classes.count} onClick={() => setPins('yes')}>
            {number(template.used_by.length)} {template.used_by.length === 1 ? 'pipeline' : 'pipelines'}
          </button>
        </>
      }
      actions={
        <>
          <Button variant="default" onClick={() => setPins('yes')}>
            {template.used_by.length === 0 ? 'Use in a pipeline …' : 'Pins'}
          </Button>
          <Button variant="default" onClick={() => setCompare(`${base.revision_number},${DRAFT}`)}>
            History
          </Button>
          <Button variant="default" disabled={changes.length === 0} onClick={() => setConfig(base.config)}>
            Discard
          </Button>
          <RoleButton needs="editor" disabled={changes.length === 0 || faults.length > 0} onClick={askSave}>
            {`Save as revision ${latest + 1} …`}
          </RoleButton>
        </>
      }
    >
      <Trial
        vendor={template.vendor}
        before={usedConfig}
        after={compiled}
        isTyping={settled !== config}
        parameters={parameters}
        events={recent.events}
        isReading={uses.isPending || recent.isLoading}
        changes={effective}
        inUse={
          integration === undefined ? (
            `revision ${base.revision_number}${uses.data === undefined ? '' : '; no pipeline uses this template'}`
          ) : (
            <InUse chosen={integration} integrations={integrations} />
          )
        }
      />
      {elsewhere.map(({ field, message }) => (
        <Alert key={`${field} ${message}`} color="red" mb="xs">
          <b>{field}</b> {message}
        </Alert>
      ))}
      <div className={classes.panes}>
        <EventPane chosen={chosen} event={event} recent={recent.events} pipelineId={pipelineId} onChange={onEvent} />
        <RowsPane
          config={config}
          base={usedConfig ?? base.config}
          sections={sections}
          faults={faults}
          fields={definition.config_fields}
          completions={completions}
          fallback={definition.default_action ?? 'drop'}
          eventKey={eventKey}
          pipelineId={pipelineId}
          connect={
            definition.connect !== undefined && (
              <div>
                <ConnectAccount
                  templateId={template.id}
                  about={`Authorise your own OAuth client at ${definition.name}, with the client of the latest revision; the token is sealed into a new revision.`}
                />
              </div>
            )
          }
          disabled={!may}
          setConfig={setConfig}
          check={check}
        />
        <RequestPane result={result} took={took} event={event} integration={integration} />
      </div>
      <Modal opened={saving} onClose={endSave} title={`Save as revision ${latest + 1}`} size="xl">
        <Save template={template} base={base} known={latest} config={config} changes={changes} onSaved={onSaved} />
      </Modal>
      <Modal opened={compare !== undefined} onClose={() => setCompare(undefined)} title="History" size="90%">
        <History templateId={template.id} draft={config} compare={compare ?? ''} setCompare={setCompare} />
      </Modal>
      <Modal opened={pins !== undefined} onClose={() => setPins(undefined)} title="Pinned revisions" size="lg">
        <Pins templateId={template.id} integrations={integrations} latest={latest} saved={saved === latest ? saved : undefined} />
      </Modal>
    </Page>
  );
}
/** Whether the fault is shown at a row, at a parameter or in the head of an entry. */
function hasPlace(fault: Fault, sections: readonly Section[], { config_fields: fields }: VendorDefinition): boolean {
  const within = (path: (string | number)[]) => faultsAt([fault], path).length > 0;
  if (fields.some(({ key }) => within([key]) || within(['parameters', key]))) return true;
  return sections.some(
    ({ path, entry }) =>
      within(path) &&
      (['vendor_event_name', 'enabled', 'filter'].some((key) => within([...path, key])) ||
        LISTS.some((list) => rowsOf(entry, list).some((_, at) => within([...path, list, at])))),
  );
}

/** The revision that a pipeline uses now. Where several use the template, the one that the draft is tried on is chosen here. */
function InUse({ chosen, integrations }: { chosen: PinnedIntegration; integrations: readonly PinnedIntegration[] }) {
  const navigate = useNavigate();
  const label = ({ name, pipeline_name, revision_number }: PinnedIntegration) =>
    `revision ${revision_number}, used by ${name} in ${pipeline_name}`;
  if (integrations.length < 2) return <span>{label(chosen)}</span>;
  return (
    <Select
      size="xs"
      w={330}
      aria-label="Compare with the revision in use by"
      allowDeselect={false}
      value={chosen.id}
      data={integrations.map((one) => ({ value: one.id, label: label(one) }))}
      onChange={(integration) =>
        void navigate({
          to: '/templates/$templateId',
          params: (old: object) => old,
          search: (old: object) => ({ ...old, integration: integration ?? undefined }),
          replace: true,
        } as never)
      }
    />
  );
}

/** The name under which the mapping has the event, or would have it: a screen is `@screen` where there is such an entry, else `@page`. */
const entryOf = (config: Config, event: CanonicalEvent): string =>
  findByEventKey(new Map(Object.keys((config.events ?? {}) as object).map((name) => [name, name])), event) ?? keyOf(event);
/** Another integration to compare with keeps the draft. */
function leavesDraft(next: { pathname: string; search: { revision?: string } }, current: typeof next): boolean {
  return next.pathname !== current.pathname || next.search.revision !== current.search.revision;
}
const SETTLES_AFTER_MS = 200;
const NO_PARAMETERS: Record<string, string> = {};
const NO_FAULTS: readonly Fault[] = [];
const NO_INTEGRATIONS: readonly PinnedIntegration[] = [];
