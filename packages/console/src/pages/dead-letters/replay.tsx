/** Asks before it replays: an estimate, then progress that can be cancelled, then what became of it. */
import { Alert, Button, Group, Modal, Progress, Select, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Failed, Loading } from '../../components/states.tsx';
import { number } from '../../format.ts';
import { failureText } from '../../forms.ts';
import type { ReplayJob, Revision } from './jobs.ts';

export function ReplayModal({ job, onClose }: { job: ReplayJob | undefined; onClose: () => void }) {
  const [busy, setBusy] = useState(false);
  return (
    <Modal
      opened={job !== undefined}
      onClose={onClose}
      closeOnEscape={!busy}
      closeOnClickOutside={!busy}
      withCloseButton={!busy}
      title={job && `Replay ${job.what}`}
    >
      {job !== undefined && <Replay key={job.what} job={job} onBusy={setBusy} onClose={onClose} />}
    </Modal>
  );
}

function Replay({ job, onBusy, onClose }: { job: ReplayJob; onBusy: (busy: boolean) => void; onClose: () => void }) {
  const queries = useQueryClient();
  const [sent, setSent] = useState(0);
  const [revision, setRevision] = useState<Revision>('pinned');
  const cancel = useRef(new AbortController());
  // A page that is left replays nothing further.
  useEffect(() => () => cancel.current.abort(), []);
  const [cancelled, setCancelled] = useState(false);
  const estimate = useQuery({
    queryKey: ['replay-estimate', job.what, job],
    queryFn: job.estimate,
    gcTime: 0,
    staleTime: Infinity,
    retry: false,
  });
  const run = useMutation({
    mutationFn: () => job.run((count) => setSent((before) => before + count), cancel.current.signal, revision),
    onMutate: () => onBusy(true),
    onSettled: async () => {
      onBusy(false);
      await Promise.all(
        ['dead-letters', 'dead-letter', 'dead-letter-groups', 'dead-letter-count', 'attention'].map((key) =>
          queries.invalidateQueries({ queryKey: [key] }),
        ),
      );
    },
  });
  if (estimate.isPending) return <Loading what="the estimate" />;
  if (estimate.isLoadingError) return <Failed error={estimate.error} retry={() => void estimate.refetch()} />;
  const total = estimate.data;
  if (run.isIdle)
    return total === 0 ? (
      <Stack gap="sm">
        <Text size="sm">Nothing would be sent: no event matches, or what they were for is disabled or gone.</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
        </Group>
      </Stack>
    ) : (
      <Stack gap="sm">
        <Text size="sm">
          <b>{number(total)}</b> {total === 1 ? 'event is' : 'events are'} sent again, at the integration’s own rate. The event filter and
          the consent category apply as usual. What fails again becomes a dead letter again.
        </Text>
        {job.choosesRevision && (
          <Select
            label="Mapped by"
            allowDeselect={false}
            value={revision}
            data={[
              { value: 'pinned', label: 'the pinned revision' },
              { value: 'latest', label: 'the latest revision' },
            ]}
            onChange={(next) => setRevision(next === 'latest' ? 'latest' : 'pinned')}
          />
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Not now
          </Button>
          <Button data-autofocus onClick={() => run.mutate()}>
            Replay {number(total)}
          </Button>
        </Group>
      </Stack>
    );
  return (
    <Stack gap="sm">
      <Progress value={total === 0 ? 100 : Math.min(100, (sent / total) * 100)} aria-label="Progress of the replay" />
      <Text size="sm" role="status">
        {run.isPending
          ? `${number(sent)} of ${number(total)} handed to the delivery queue`
          : cancelled
            ? `Cancelled: ${number(sent)} are on their way, the others are as they were.`
            : `${number(sent)} ${sent === 1 ? 'event is' : 'events are'} on ${sent === 1 ? 'its' : 'their'} way.`}
      </Text>
      {run.isError && (
        <Alert color="red" role="alert">
          {failureText(run.error)} {sent > 0 && `${number(sent)} were handed over before.`}
        </Alert>
      )}
      <Group justify="flex-end">
        {run.isPending ? (
          <Button
            variant="default"
            disabled={cancelled}
            onClick={() => {
              setCancelled(true);
              cancel.current.abort();
            }}
          >
            {cancelled ? 'Stopping …' : 'Cancel'}
          </Button>
        ) : (
          <Button data-autofocus onClick={onClose}>
            Done
          </Button>
        )}
      </Group>
    </Stack>
  );
}
