/** The pipeline's transformations in order. The chosen one is edited beside a sample event and tried in the server's sandbox. */
import { Alert, Button, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { modals } from '@mantine/modals';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { api, call } from '../../api.ts';
import { Editor } from '../../components/editor.tsx';
import { Json } from '../../components/json.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { failureText } from '../../forms.ts';
import { useMay } from '../../session/use-session.ts';
import { sampleEvent } from '../mapping/recent-events.ts';
import classes from './transformations.module.css';

const SideBySide = lazy(async () => ({ default: (await import('../../components/side-by-side.tsx')).SideBySide }));

interface Transformation {
  id: string;
  name: string;
  kind: 'rules' | 'code';
  rules: unknown[];
  code: string;
  enabled: boolean;
}
const NEW_CODE = `function transform(event, { parameters }) {
  return event;
}
`;

export function Transformations({ pipelineId }: { pipelineId: string }) {
  const queries = useQueryClient();
  const may = useMay('editor');
  const [chosen, setChosen] = useState<string>();
  const query = useQuery({
    queryKey: ['transformations', pipelineId],
    queryFn: () => call(api.GET('/v1/admin/pipelines/{id}/transformations', { params: { path: { id: pipelineId } } })),
  });
  const refresh = () => queries.invalidateQueries({ queryKey: ['transformations', pipelineId] });
  const onError = (error: unknown) => notifications.show({ color: 'red', title: 'Not saved', message: failureText(error) });
  const create = useMutation({
    mutationFn: () =>
      call(
        api.POST('/v1/admin/pipelines/{id}/transformations', {
          params: { path: { id: pipelineId } },
          body: { name: 'New transformation', kind: 'code', code: NEW_CODE, enabled: false },
        }),
      ),
    onSuccess: async ({ id }) => {
      await refresh();
      setChosen(id);
    },
    onError,
  });
  const order = useMutation({
    mutationFn: (ids: string[]) =>
      call(api.PUT('/v1/admin/pipelines/{id}/transformations/order', { params: { path: { id: pipelineId } }, body: { ids } })),
    onSettled: refresh,
    onError,
  });
  if (query.isPending) return <Loading what="transformations" />;
  if (query.isError) return <Failed error={query.error} retry={() => void query.refetch()} />;
  const list = query.data.transformations;
  const open = list.find(({ id }) => id === chosen) ?? list[0];
  function move(at: number, by: number) {
    const ids = list.map(({ id }) => id);
    const [moved] = ids.splice(at, 1);
    if (moved === undefined) return;
    ids.splice(at + by, 0, moved);
    order.mutate(ids);
  }
  return (
    <div className={classes.columns}>
      <section className="panel" style={{ padding: 8 }} aria-label="Order">
        {list.map(({ id, name, kind, enabled }, at) => (
          <div key={id} className={classes.item} data-open={id === open?.id}>
            <button type="button" className={classes.pick} onClick={() => setChosen(id)}>
              {at + 1}. {name} <Tag>{kind}</Tag> {!enabled && <Tag tone="warn">off</Tag>}
            </button>
            <Button
              size="compact-xs"
              variant="subtle"
              aria-label={`Move ${name} up`}
              disabled={!may || at === 0}
              onClick={() => move(at, -1)}
            >
              ↑
            </Button>
            <Button
              size="compact-xs"
              variant="subtle"
              aria-label={`Move ${name} down`}
              disabled={!may || at === list.length - 1}
              onClick={() => move(at, 1)}
            >
              ↓
            </Button>
          </div>
        ))}
        <Button
          mt="xs"
          variant="default"
          fullWidth
          onClick={() => create.mutate()}
          loading={create.isPending}
          disabled={!may}
          title={may ? undefined : 'Needs the role editor'}
        >
          Add a transformation
        </Button>
      </section>
      {open === undefined ? (
        <p className="dim">Transformations change or drop events of this pipeline before they are routed to its integrations.</p>
      ) : (
        <Edit key={open.id} pipelineId={pipelineId} transformation={open} onSaved={refresh} />
      )}
    </div>
  );
}

function Edit({
  pipelineId,
  transformation,
  onSaved,
}: {
  pipelineId: string;
  transformation: Transformation;
  onSaved: () => Promise<void>;
}) {
  const may = useMay('editor');
  const mayDelete = useMay('admin');
  const [draft, setDraft] = useState(transformation);
  const [rules, setRules] = useState(() => JSON.stringify(transformation.rules, null, 2));
  const [event, setEvent] = useState(() => JSON.stringify(sampleEvent, null, 2));
  const path = { id: pipelineId, transformation_id: transformation.id };
  /** Undefined where the rules are no JSON list: nothing can be tried or saved then. */
  const parsedRules = draft.kind === 'rules' ? parseList(rules) : transformation.rules;
  const body = { name: draft.name, kind: draft.kind, enabled: draft.enabled, code: draft.code, rules: parsedRules };
  const attempt = useMutation({
    mutationFn: async () => {
      const started = performance.now();
      const answer = (await call(
        api.POST('/v1/admin/transformations/test', {
          body: { kind: draft.kind, rules: parsedRules, code: draft.code, event: JSON.parse(event) } as never,
        }),
      )) as { event: unknown; logs: string[]; error: string | null };
      return { ...answer, before: JSON.stringify(JSON.parse(event), null, 2), took: performance.now() - started };
    },
  });
  const save = useMutation({
    mutationFn: () =>
      call(api.PUT('/v1/admin/pipelines/{id}/transformations/{transformation_id}', { params: { path }, body: body as never })),
    onSuccess: async () => {
      await onSaved();
      notifications.show({ message: 'Saved. New events go through it within five seconds.' });
    },
    onError: (error) => notifications.show({ color: 'red', title: 'Not saved', message: failureText(error) }),
  });
  const remove = useMutation({
    mutationFn: () => call(api.DELETE('/v1/admin/pipelines/{id}/transformations/{transformation_id}', { params: { path } })),
    onSuccess: onSaved,
    onError: (error) => notifications.show({ color: 'red', title: 'Not removed', message: failureText(error) }),
  });
  return (
    <section className="panel" style={{ padding: 16, minWidth: 0 }} aria-label={transformation.name}>
      <Stack gap="sm">
        <Group>
          <TextInput
            aria-label="Name"
            value={draft.name}
            disabled={!may}
            onChange={({ currentTarget }) => setDraft({ ...draft, name: currentTarget.value })}
          />
          <Select
            aria-label="Kind"
            w={110}
            allowDeselect={false}
            disabled={!may}
            data={['code', 'rules']}
            value={draft.kind}
            onChange={(kind) => setDraft({ ...draft, kind: kind as 'code' })}
          />
          <Switch
            label="Enabled"
            checked={draft.enabled}
            disabled={!may}
            onChange={({ currentTarget }) => setDraft({ ...draft, enabled: currentTarget.checked })}
          />
          <Button onClick={() => save.mutate()} loading={save.isPending} disabled={!may || parsedRules === undefined}>
            Save
          </Button>
          <Button
            variant="subtle"
            color="red"
            disabled={!mayDelete}
            title={mayDelete ? undefined : 'Needs the role admin'}
            onClick={() =>
              modals.openConfirmModal({
                title: `Remove ${transformation.name}?`,
                children: 'Events go on without it.',
                labels: { confirm: 'Remove', cancel: 'Keep' },
                onConfirm: () => remove.mutate(),
              })
            }
          >
            Remove
          </Button>
        </Group>
        <div className={classes.editors}>
          <div>
            <Text size="sm" fw={500}>
              {draft.kind === 'code' ? 'Code' : 'Rules'}
            </Text>
            {draft.kind === 'code' ? (
              <Editor
                label="Code"
                language="javascript"
                value={draft.code}
                onChange={(code) => setDraft((old) => ({ ...old, code }))}
                minHeight={260}
                readOnly={!may}
              />
            ) : (
              <Editor label="Rules" language="json" value={rules} onChange={setRules} minHeight={260} readOnly={!may} />
            )}
            {parsedRules === undefined && <Alert color="red">The rules must be a JSON list.</Alert>}
          </div>
          <div>
            <Text size="sm" fw={500}>
              Sample event
            </Text>
            <Editor label="Sample event" language="json" value={event} onChange={setEvent} minHeight={260} />
          </div>
        </div>
        <Group>
          <Button
            variant="default"
            onClick={() => attempt.mutate()}
            loading={attempt.isPending}
            disabled={!may || parsedRules === undefined}
          >
            Try it on the sample event
          </Button>
          {attempt.data !== undefined && <span className="dim">{attempt.data.took.toFixed(0)} ms with the round trip</span>}
        </Group>
        {attempt.isError && <Alert color="red">{failureText(attempt.error)}</Alert>}
        {attempt.data !== undefined && (
          <>
            {attempt.data.error !== null && (
              <Alert color="red" title="It failed">
                <span className="mono">{attempt.data.error}</span>
              </Alert>
            )}
            {attempt.data.logs.length > 0 && <Json value={attempt.data.logs.join('\n')} label="Logs" />}
            {attempt.data.event === null ? (
              attempt.data.error === null && <Tag tone="warn">the event is dropped</Tag>
            ) : (
              <Suspense fallback={<Loading what="the comparison" />}>
                <SideBySide left={attempt.data.before} right={JSON.stringify(attempt.data.event, null, 2)} />
              </Suspense>
            )}
          </>
        )}
      </Stack>
    </section>
  );
}
function parseList(text: string): unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined; // shown as a fault beside the editor
  }
}
