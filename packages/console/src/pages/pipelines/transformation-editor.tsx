/** One transformation: its code or rules, and below them a sample event with the result beside it. Rules are tried as you type, code in the server's sandbox. */

import type { EventFilter } from '@firsthand/core/config/resources.ts';
import type { Rule } from '@firsthand/core/config/rules.ts';
import { validateTransformation } from '@firsthand/core/process/compiled.ts';
import { Alert, Button, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useDeferredValue, useMemo, useState } from 'react';
import { api, call } from '../../api.ts';
import { Conflict, isConflict, readTheirs } from '../../components/conflict.tsx';
import { Editor } from '../../components/editor.tsx';
import { EventNamesInput } from '../../components/event-names-input.tsx';
import { Json } from '../../components/json.tsx';
import { LastDay } from '../../components/last-day.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { lineFault, placeFaults, syntaxFault, type TextFault } from '../../components/text-faults.ts';
import { parseExactly } from '../../exact-json.ts';
import { events, milliseconds } from '../../format.ts';
import { failureText, fieldErrors } from '../../forms.ts';
import { openConfirmModal } from '../../open-confirm-modal.ts';
import { pipelineQuery } from '../../queries.ts';
import { useMay } from '../../session/use-session.ts';
import type { ChosenEvent } from '../mapping/chosen-event.ts';
import { EventSelect } from '../mapping/event-select.tsx';
import { useRecentEvents } from '../mapping/recent-events.ts';
import { type Draft, draftOf, isChanged, savedDraft, type Transformation } from './transformation-draft.ts';
import classes from './transformations.module.css';
import { type Tried, tryRules } from './try-rules.ts';

const SideBySide = lazy(async () => ({ default: (await import('../../components/side-by-side.tsx')).SideBySide }));

interface EditorProps {
  pipelineId: string;
  draft: Draft;
  sample: ChosenEvent;
  sampleText: string;
  onSampleText: (text: string) => void;
  onDraft: (change: (draft: Draft) => Draft) => void;
  /** Back to what is stored. */
  onDiscard: () => void;
  onSaved: () => Promise<void>;
}

export function TransformationEditor({ pipelineId, draft, onDraft, onDiscard, onSaved, ...sampled }: EditorProps) {
  const may = useMay('editor');
  const [theirs, setTheirs] = useState<Transformation>();
  const { stored, kind } = draft;
  const set = (change: Partial<Draft>) => onDraft((old) => ({ ...old, ...change }));
  const path = { id: pipelineId, transformation_id: stored.id };
  const checked = useMemo(() => checkRules(draft.rules), [draft.rules]);
  /** Undefined where the rules are no JSON list: nothing can be tried or saved then. */
  const rules = kind === 'rules' ? checked.rules : stored.rules;
  const event_filter = draft.events.length === 0 ? null : { event_names: draft.events };
  const body = { name: draft.name, kind, enabled: draft.enabled, code: draft.code, rules, event_filter };
  const save = useMutation({
    mutationFn: (updatedAt: string) =>
      call(
        api.PUT('/v1/admin/pipelines/{id}/transformations/{transformation_id}', {
          params: { path, header: { 'if-match': updatedAt } },
          body: body as never,
        }),
      ),
    onMutate: () => draft,
    onSuccess: async (saved, _stamp, sent) => {
      setTheirs(undefined);
      onDraft((now) => savedDraft(sent, now, saved as Transformation));
      await onSaved();
      notifications.show({ message: 'Saved. New events go through it within five seconds.' });
    },
    onError: async (error) => {
      if (isConflict(error))
        setTheirs(
          await readTheirs(() => call(api.GET('/v1/admin/pipelines/{id}/transformations/{transformation_id}', { params: { path } }))),
        );
    },
  });
  /** The line where the last try failed, while the code is still the same. */
  const [thrown, setThrown] = useState<{ code: string; error: string }>();
  const refused = save.isError && !isConflict(save.error) ? fieldErrors(save.error, '') : NO_FAULTS;
  const sent = save.context;
  const textFaults = useMemo(() => {
    if (kind === 'rules') {
      if (checked.faults.length > 0 || sent?.rules !== draft.rules) return checked.faults;
      return placeFaults(draft.rules, faultsOf(refused, 'rules'), 'rules');
    }
    const messages = sent?.code === draft.code ? faultsOf(refused, 'code').map(({ message }) => message) : [];
    if (messages.length === 0 && thrown?.code === draft.code) messages.push(thrown.error);
    return messages.map((message) => lineFault(draft.code, message));
  }, [kind, checked, refused, sent, thrown, draft.rules, draft.code]);
  const filterFault = faultsOf(refused, 'event_filter')
    .map(({ message }) => message)
    .join(' ');
  const general = Object.entries(refused).filter(([field]) => !/^(name|kind|rules|code|event_filter)\b/.test(field));
  const remove = useMutation({
    mutationFn: () => call(api.DELETE('/v1/admin/pipelines/{id}/transformations/{transformation_id}', { params: { path } })),
    onSuccess: async () => {
      onDiscard();
      await onSaved();
    },
    onError: (error) => notifications.show({ color: 'red', title: 'Not removed', message: failureText(error) }),
  });
  /** Asks where the change concerns events: what is off and stays off concerns none. */
  function askAndSave() {
    if (!stored.enabled && !draft.enabled) return save.mutate(stored.updated_at);
    openConfirmModal({
      title: !draft.enabled ? `Turn ${stored.name} off?` : stored.enabled ? `Change ${stored.name}?` : `Turn ${stored.name} on?`,
      children: (
        <>
          {draft.enabled
            ? 'Within five seconds every new event goes through it; what it drops reaches no integration. '
            : 'Within five seconds new events go on without it. '}
          <ProcessedLately pipelineId={pipelineId} />
        </>
      ),
      labels: { confirm: 'Save', cancel: 'Keep' },
      onConfirm: () => save.mutate(stored.updated_at),
    });
  }
  return (
    <section className="panel" style={{ padding: 16, minWidth: 0 }} aria-label={stored.name}>
      <Stack gap="sm">
        {theirs !== undefined && (
          <Conflict
            what={`“${stored.name}”`}
            theirs={comparable(draftOf(theirs))}
            mine={comparable(draft)}
            busy={save.isPending}
            onKeepMine={() => save.mutate(theirs.updated_at)}
            onTakeTheirs={() => {
              setTheirs(undefined);
              onDraft(() => draftOf(theirs));
            }}
          />
        )}
        <Group gap="xs">
          <TextInput
            aria-label="Name"
            style={{ flex: '1 1 180px' }}
            maw={320}
            value={draft.name}
            error={refused.name}
            disabled={!may}
            onChange={({ currentTarget }) => set({ name: currentTarget.value })}
          />
          <Select
            aria-label="Kind"
            w={110}
            allowDeselect={false}
            disabled={!may}
            data={['code', 'rules']}
            value={kind}
            error={refused.kind}
            onChange={(next) => set({ kind: next as Draft['kind'] })}
          />
          <Switch
            label="Enabled"
            checked={draft.enabled}
            disabled={!may}
            onChange={({ currentTarget }) => set({ enabled: currentTarget.checked })}
          />
          <Group gap="xs" ml="auto">
            <RoleButton
              needs="admin"
              variant="subtle"
              color="red"
              onClick={() =>
                openConfirmModal({
                  title: `Remove ${stored.name}?`,
                  children: (
                    <>
                      {stored.enabled ? 'Events go on without it. ' : 'It is off: nothing changes for events. '}
                      <ProcessedLately pipelineId={pipelineId} />
                    </>
                  ),
                  labels: { confirm: 'Remove', cancel: 'Keep' },
                  confirmProps: { color: 'red' },
                  onConfirm: () => remove.mutate(),
                })
              }
            >
              Remove
            </RoleButton>
            <Button variant="default" disabled={!isChanged(draft)} onClick={onDiscard}>
              Discard
            </Button>
            <RoleButton
              needs="editor"
              onClick={askAndSave}
              loading={save.isPending}
              disabled={rules === undefined || !isChanged(draft) || theirs !== undefined}
            >
              Save
            </RoleButton>
          </Group>
        </Group>
        <EventNamesInput
          pipelineId={pipelineId}
          placeholder={draft.events.length === 0 ? 'Order Completed' : ''}
          disabled={!may}
          value={draft.events}
          error={filterFault === '' ? undefined : filterFault}
          onChange={(events) => set({ events })}
        />
        <div>
          <Text size="sm" fw={600} mb={4}>
            {kind === 'code' ? 'Code' : 'Rules'}
          </Text>
          {kind === 'code' ? (
            <Editor
              label="Code"
              language="javascript"
              value={draft.code}
              onChange={(code) => set({ code })}
              minHeight={180}
              readOnly={!may}
              faults={textFaults}
            />
          ) : (
            <Editor
              label="Rules"
              language="json"
              value={draft.rules}
              onChange={(next) => set({ rules: next })}
              minHeight={180}
              readOnly={!may}
              faults={textFaults}
            />
          )}
          {general.map(([field, message]) => (
            <Alert key={field} color="red" role="alert" title="Not saved">
              {field !== '' && <b>{field} </b>}
              {message}
            </Alert>
          ))}
        </div>
        <Trial
          {...sampled}
          pipelineId={pipelineId}
          kind={kind}
          code={draft.code}
          rules={rules}
          event_filter={event_filter}
          onFailure={setThrown}
        />
      </Stack>
    </section>
  );
}

/** Everything that can differ, the code last. */
const comparable = ({ name, kind, enabled, events, code, rules }: Draft): string =>
  [
    `Name: ${name}`,
    `Enabled: ${enabled ? 'yes' : 'no'}`,
    `Events: ${events.length === 0 ? 'all' : events.join(', ')}`,
    '',
    kind === 'code' ? code : rules,
  ].join('\n');

function ProcessedLately({ pipelineId }: { pipelineId: string }) {
  return (
    <LastDay pipelineId={pipelineId}>{({ processed }) => `In the last 24 hours the pipeline processed ${events(processed)}.`}</LastDay>
  );
}

/** The sample event on the left, what the transformation makes of it on the right. */
function Trial({
  pipelineId,
  sample,
  sampleText,
  onSampleText,
  kind,
  code,
  rules,
  event_filter,
  onFailure,
}: Pick<EditorProps, 'pipelineId' | 'sample' | 'sampleText' | 'onSampleText'> & {
  kind: Draft['kind'];
  code: string;
  rules: unknown[] | undefined;
  event_filter: EventFilter | null;
  /** The code that was tried and its error; undefined if it worked. */
  onFailure: (failure: { code: string; error: string } | undefined) => void;
}) {
  const recent = useRecentEvents(pipelineId);
  const parameters = useQuery(pipelineQuery(pipelineId)).data?.parameters ?? NO_PARAMETERS;
  const attempt = useMutation({
    mutationFn: async () => {
      const before = parseExactly(sampleText);
      const answer = await call(
        api.POST('/v1/admin/transformations/test', { body: { kind: 'code', code, event: before, parameters } as never }),
      );
      return { ...answer, before: JSON.stringify(before, null, 2), of: { code, sampleText } };
    },
    onMutate: () => code,
    onSuccess: ({ error }, _sent, tried) => onFailure(error === null ? undefined : { code: tried, error }),
  });
  const typed = useDeferredValue(sampleText);
  const filter = useDeferredValue(JSON.stringify(event_filter));
  const live = useMemo(
    () =>
      rules === undefined ? undefined : tryRules({ rules, event_filter: JSON.parse(filter) as EventFilter | null, parameters }, typed),
    [rules, filter, parameters, typed],
  );
  const result: Tried | undefined = kind === 'rules' ? live : attempt.data;
  const failed = kind === 'code' && attempt.isError;
  const tried = kind === 'code' ? attempt.data?.of : undefined;
  const isOld = tried !== undefined && (tried.code !== code || tried.sampleText !== sampleText);
  return (
    <div className={classes.editors}>
      <div>
        <Group justify="space-between" mb={4} mih={30} wrap="nowrap">
          <Text size="sm" fw={600} style={{ whiteSpace: 'nowrap' }}>
            Sample event
          </Text>
          <EventSelect chosen={sample} recent={recent.events} pipelineId={pipelineId} />
        </Group>
        <Editor label="Sample event" language="json" value={sampleText} onChange={onSampleText} minHeight={200} />
      </div>
      <section aria-label="Result">
        <Group justify="space-between" mb={4} mih={30}>
          <Text size="sm" fw={600}>
            Result {result !== undefined && <span className={classes.took}>took {milliseconds(result.duration_ms)}</span>}{' '}
            {isOld && <Tag tone="warn">before your last change</Tag>}
          </Text>
          {kind === 'code' && (
            <RoleButton needs="editor" variant="default" onClick={() => attempt.mutate()} loading={attempt.isPending}>
              Try it on the sample event
            </RoleButton>
          )}
        </Group>
        {failed && <Alert color="red">{failureText(attempt.error)}</Alert>}
        {result === undefined && !failed && (
          <p className="dim">
            {kind === 'code'
              ? 'Try it to see what changes: the event before and after, logs, and the line of an error.'
              : 'The rules must be a JSON list.'}
          </p>
        )}
        {result !== undefined && (
          <Stack gap="xs">
            {result.error !== null && (
              <Alert color="red" title="It failed">
                <span className="mono">{result.error}</span>
              </Alert>
            )}
            {result.logs.length > 0 && <Json value={result.logs.join('\n')} label="Logs" />}
            {result.skipped === true ? (
              <p>
                <Tag>not for this event</Tag> It goes on as it is.
              </p>
            ) : result.event === null ? (
              result.error === null && (
                <p>
                  <Tag tone="warn">dropped</Tag> The event ends here.
                </p>
              )
            ) : (
              <Suspense fallback={<Loading what="the comparison" />}>
                <SideBySide left={result.before} right={JSON.stringify(result.event, null, 2)} />
              </Suspense>
            )}
          </Stack>
        )}
      </section>
    </div>
  );
}
const NO_PARAMETERS: Record<string, string> = {};
const NO_FAULTS: Record<string, string> = {};
function faultsOf(faults: Record<string, string>, field: string): { field: string; message: string }[] {
  return Object.entries(faults).flatMap(([path, message]) => (new RegExp(`^${field}\\b`).test(path) ? [{ field: path, message }] : []));
}

/** The rules, and their faults at their lines in the words of the service: its own compiler finds them. */
function checkRules(text: string): { rules: unknown[] | undefined; faults: readonly TextFault[] } {
  const broken = syntaxFault(text);
  if (broken !== undefined) return { rules: undefined, faults: [broken] };
  const rules: unknown = JSON.parse(text);
  if (!Array.isArray(rules)) return { rules: undefined, faults: [{ at: 0, message: 'The rules must be a JSON list.' }] };
  return { rules, faults: placeFaults(text, validateTransformation({ kind: 'rules', rules: rules as Rule[] }), 'rules') };
}
