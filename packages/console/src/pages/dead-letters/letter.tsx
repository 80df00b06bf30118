/** One dead letter: why it failed, each attempt, the event. A rejected event can be corrected before it is sent again. */
import { Alert, CloseButton, Group, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { api, call } from '../../api.ts';
import { Attempt } from '../../components/attempt.tsx';
import { Json } from '../../components/json.tsx';
import { LinkButton } from '../../components/link-button.tsx';
import { Reason } from '../../components/reason.tsx';
import { RefusedSender } from '../../components/refused-sender.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Failed, Loading, Outdated } from '../../components/states.tsx';
import { Tag, toneOf } from '../../components/tag.tsx';
import { useReturnFocus } from '../../components/use-return-focus.ts';
import { parseExactly } from '../../exact-json.ts';
import { dateTime } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { openConfirmModal } from '../../open-confirm-modal.ts';
import { useUnsaved } from '../../use-unsaved.ts';
import type { DeadLettersSearch } from './search.ts';

const Editor = lazy(async () => ({ default: (await import('../../components/editor.tsx')).Editor }));

export function Letter({ id, onReplay, onClose }: { id: string; onReplay: () => void; onClose: () => void }) {
  const queries = useQueryClient();
  const letter = useQuery({
    queryKey: ['dead-letter', id],
    queryFn: () => call(api.GET('/v1/admin/dlq/{id}', { params: { path: { id } } })),
  });
  const remove = useMutation({
    mutationFn: () => call(api.DELETE('/v1/admin/dlq/{id}', { params: { path: { id } } })),
    onSuccess: async () => {
      onClose();
      await Promise.all(
        ['dead-letters', 'dead-letter-groups', 'dead-letter-count'].map((key) => queries.invalidateQueries({ queryKey: [key] })),
      );
    },
    onError: (error) => notifications.show({ color: 'red', title: 'Not deleted', message: failureText(error) }),
  });
  const panel = useReturnFocus<HTMLElement>();
  return (
    <section ref={panel} className="panel" style={{ padding: 16, marginTop: 16 }} aria-label="Dead letter">
      {letter.isPending ? (
        <Loading what="the dead letter" />
      ) : letter.isLoadingError ? (
        <Failed error={letter.error} retry={() => void letter.refetch()} />
      ) : (
        <>
          {letter.isRefetchError && <Outdated what="This dead letter" error={letter.error} retry={() => void letter.refetch()} />}
          <Group justify="space-between" wrap="nowrap" align="flex-start">
            <Title order={2} size="h3">
              <Reason text={letter.data.reason} long />
            </Title>
            <CloseButton aria-label="Close" onClick={onClose} />
          </Group>
          <p className="dim">
            <Tag tone={toneOf(letter.data.status)}>{letter.data.status}</Tag> stage {letter.data.stage}
            {letter.data.revision_number !== null && `, revision ${letter.data.revision_number}`}, kept until{' '}
            {dateTime(letter.data.expires_at)}
          </p>
          <Group gap="xs" mb="sm">
            {letter.data.stage !== 'ingest' && (
              <RoleButton needs="editor" onClick={onReplay}>
                Replay this one …
              </RoleButton>
            )}
            <LinkButton to="/events" search={{ selected: letter.data.event_id }}>
              What happened to it
            </LinkButton>
            <RoleButton
              needs="admin"
              variant="default"
              onClick={() =>
                openConfirmModal({
                  title: 'Delete this dead letter?',
                  children: 'It may be the last copy of the event. It cannot be replayed afterwards.',
                  labels: { confirm: 'Delete', cancel: 'Keep' },
                  confirmProps: { color: 'red' },
                  onConfirm: () => remove.mutate(),
                })
              }
            >
              Delete
            </RoleButton>
          </Group>
          {letter.data.attempts.length > 0 && (
            <ol style={{ margin: '0 0 12px', paddingLeft: 18 }}>
              {letter.data.attempts.map((attempt) => (
                <li key={attempt.at}>
                  <Attempt attempt={attempt} time={dateTime(attempt.at)} />
                </li>
              ))}
            </ol>
          )}
          {letter.data.stage === 'ingest' ? (
            <Correct id={id} rejected={letter.data.event} />
          ) : (
            <Json value={letter.data.event} label="The event" maxHeight={420} />
          )}
        </>
      )}
    </section>
  );
}

/** Filters of the list change the address too, and the correction stays open beside them. */
function removesCorrection(next: { pathname: string; search: DeadLettersSearch }, current: typeof next): boolean {
  return next.pathname !== current.pathname || next.search.selected !== current.search.selected || next.search.tab !== current.search.tab;
}

function Correct({ id, rejected }: { id: string; rejected: Record<string, unknown> }) {
  const queries = useQueryClient();
  const { raw, message, sender } = rejected as { raw?: unknown; message?: string; sender?: { origin?: string; address?: string } };
  const [text, setText] = useState(() => (typeof raw === 'string' ? raw : JSON.stringify(raw, null, 2)));
  /** What the service has: the rejected text, then the accepted correction. */
  const [known, setKnown] = useState(text);
  useUnsaved(text !== known, removesCorrection);
  const send = useMutation({
    mutationFn: async (typed: string) => {
      const event = parseExactly(typed) as Record<string, unknown>;
      return await call(api.POST('/v1/admin/dlq/{id}/replay', { params: { path: { id } }, body: { event } }));
    },
    onSuccess: async (_accepted, typed) => {
      setKnown(typed);
      notifications.show({ message: 'The corrected event was accepted.' });
      await Promise.all(
        ['dead-letters', 'dead-letter', 'dead-letter-groups', 'dead-letter-count'].map((key) =>
          queries.invalidateQueries({ queryKey: [key] }),
        ),
      );
    },
  });
  return (
    <>
      <p>
        It was rejected: <b>{message}</b> Correct it and send it again.
      </p>
      <RefusedSender sender={sender} />
      <Suspense fallback={<Loading what="the editor" />}>
        <Editor label="The event, to be corrected" language="json" value={text} onChange={setText} />
      </Suspense>
      {send.isError && (
        <Alert color="red" mt="sm" role="alert">
          {failureText(send.error)}
        </Alert>
      )}
      <RoleButton needs="editor" mt="sm" onClick={() => send.mutate(text)} loading={send.isPending}>
        Send the corrected event
      </RoleButton>
    </>
  );
}
