/** The pipeline's transformations in their order: drag one, or move it with Alt ↑ and Alt ↓. The chosen one is edited beside the list. */
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api, call } from '../../api.ts';
import { DragIcon } from '../../components/icons.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Empty, Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { failureText } from '../../forms.ts';
import { useMay } from '../../session/use-session.ts';
import { useUnsaved } from '../../use-unsaved.ts';
import { useChosenEvent } from '../mapping/chosen-event.ts';
import { type Draft, draftOf, isChanged, orderedDraft, type Transformation } from './transformation-draft.ts';
import { TransformationEditor } from './transformation-editor.tsx';
import classes from './transformations.module.css';
import { transformationsQuery } from './transformations-query.ts';

const NEW_CODE = `function transform(event, { parameters }) {
  return event;
}
`;
const DRAGGED = 'text/x-transformation';
const itemId = (id: string): string => `transformation-${id}`;

export function Transformations({ pipelineId }: { pipelineId: string }) {
  const queries = useQueryClient();
  const may = useMay('editor');
  const { transformation: chosen } = useSearch({ strict: false }) as { transformation?: string };
  const navigate = useNavigate();
  const setChosen = (transformation: string) =>
    void navigate({ to: '.', search: (old: object) => ({ ...old, transformation }), replace: true } as never);
  const sample = useChosenEvent(pipelineId);
  /** What was typed, by transformation: choosing another one keeps it. */
  const [drafts, setDrafts] = useState<Readonly<Record<string, Draft>>>({});
  useUnsaved(Object.values(drafts).some(isChanged), leavesDrafts);
  /** What was typed in a sample event, by the event. */
  const [typed, setTyped] = useState<{ of: string; text: string }>();
  const sampleText = typed?.of === sample.key ? typed.text : JSON.stringify(sample.event, null, 2);
  const query = useQuery(transformationsQuery(pipelineId));
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
    onSettled: async () => {
      await refresh();
      const list = queries.getQueryData<{ transformations: Transformation[] }>(transformationsQuery(pipelineId).queryKey)?.transformations;
      setDrafts((old) =>
        Object.fromEntries(
          Object.entries(old).map(([id, draft]) => {
            const now = list?.find((one) => one.id === id);
            return [id, now === undefined ? draft : orderedDraft(draft, now)];
          }),
        ),
      );
    },
    onError,
  });
  if (query.isPending) return <Loading what="transformations" />;
  if (query.isLoadingError) return <Failed error={query.error} retry={() => void query.refetch()} />;
  const list = query.data.transformations;
  const open = list.find(({ id }) => id === chosen) ?? list[0];
  function move(from: number, to: number) {
    const ids = list.map(({ id }) => id);
    const [moved] = ids.splice(from, 1);
    if (moved === undefined || to < 0 || to >= list.length) return;
    ids.splice(to, 0, moved);
    // The browser takes the focus from what is moved in the document.
    const refocus = () => document.activeElement === document.body && document.getElementById(itemId(moved))?.focus();
    order.mutate(ids, { onSettled: () => requestAnimationFrame(refocus) });
  }
  const add = { needs: 'editor', onClick: () => create.mutate(), loading: create.isPending } as const;
  if (open === undefined)
    return (
      <Empty title="No transformations yet" action={<RoleButton {...add}>Add a transformation</RoleButton>}>
        One changes or drops events of this pipeline, with rules or JavaScript, before they are routed to its integrations. It begins
        switched off, beside a sample event to try it on.
      </Empty>
    );
  return (
    <div className={classes.columns}>
      <section className="panel" style={{ padding: 8 }} aria-label="Order">
        {list.map(({ id, name, kind, enabled }, at) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: the button inside moves it by keyboard
          <div
            key={id}
            className={classes.item}
            data-open={id === open?.id}
            draggable={may}
            onDragStart={(event) => event.dataTransfer.setData(DRAGGED, String(at))}
            onDragOver={(event) => event.dataTransfer.types.includes(DRAGGED) && event.preventDefault()}
            onDrop={(event) => move(Number(event.dataTransfer.getData(DRAGGED)), at)}
          >
            {may && (
              <span className={classes.handle} aria-hidden>
                <DragIcon />
              </span>
            )}
            <button
              id={itemId(id)}
              type="button"
              className={classes.pick}
              title={may ? 'Drag, or Alt ↑ and Alt ↓, to change the order' : undefined}
              aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown"
              onClick={() => setChosen(id)}
              onKeyDown={({ altKey, key }) => {
                if (may && altKey && (key === 'ArrowUp' || key === 'ArrowDown')) move(at, key === 'ArrowUp' ? at - 1 : at + 1);
              }}
            >
              <span>
                {at + 1}. {name}
              </span>
              <span>
                {drafts[id] !== undefined && isChanged(drafts[id]) && <Tag tone="info">unsaved</Tag>} <Tag>{kind}</Tag>{' '}
                {!enabled && <Tag tone="warn">off</Tag>}
              </span>
            </button>
          </div>
        ))}
        <RoleButton {...add} mt="xs" variant="default" fullWidth>
          Add a transformation
        </RoleButton>
      </section>
      <TransformationEditor
        key={open.id}
        pipelineId={pipelineId}
        draft={drafts[open.id] ?? draftOf(open)}
        sample={sample}
        sampleText={sampleText}
        onSampleText={(text) => setTyped({ of: sample.key, text })}
        onDraft={(change) => setDrafts((old) => ({ ...old, [open.id]: change(old[open.id] ?? draftOf(open)) }))}
        onDiscard={() => setDrafts(({ [open.id]: _dropped, ...rest }) => rest)}
        onSaved={refresh}
      />
    </div>
  );
}
/** Another transformation or sample event keeps the drafts. */
function leavesDrafts(next: { pathname: string; search: { tab?: string } }, current: typeof next): boolean {
  return next.pathname !== current.pathname || next.search.tab !== current.search.tab;
}
