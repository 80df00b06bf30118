/** Saves the draft as a revision. If somebody saved one meanwhile, theirs is shown beside yours first. */
import { Alert, Button, Group, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { api, call } from '../../api.ts';
import { Loading } from '../../components/states.tsx';
import { failureText, formErrors } from '../../forms.ts';
import { ChangeList } from './change-list.tsx';
import type { Change } from './changes.ts';
import type { Config } from './draft.ts';
import { type Revision, revisionQuery, type Template, templateQuery } from './templates.ts';

const SideBySide = lazy(async () => ({ default: (await import('../../components/side-by-side.tsx')).SideBySide }));

export function Save({
  template,
  base,
  known,
  config,
  changes,
  onSaved,
}: {
  template: Template;
  base: Revision;
  /** The latest revision that the user has seen. */
  known: number;
  config: Config;
  /** From the opened revision. */
  changes: readonly Change[];
  onSaved: (revision: number) => void;
}) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [summary, setSummary] = useState('');
  const [theirs, setTheirs] = useState<Revision>();
  const save = useMutation({
    mutationFn: async (anyway: boolean) => {
      const { latest_revision: latest } = await queries.fetchQuery({ ...templateQuery(template.id), staleTime: 0 });
      if (!anyway && latest !== null && latest.revision_number > known) {
        setTheirs(await queries.fetchQuery(revisionQuery(template.id, latest.revision_number)));
        return undefined;
      }
      return await call(
        api.POST('/v1/admin/integration-templates/{id}/revisions', {
          // Closes the gap between the look above and this request.
          params: { path: { id: template.id }, header: latest === null ? {} : { 'if-match': String(latest.revision_number) } },
          body: { config: config as never, ...(summary.trim() === '' ? {} : { change_summary: summary.trim() }) },
        }),
      );
    },
    onSuccess: async (saved) => {
      if (saved === undefined) return;
      onSaved(saved.revision_number);
      // The chosen event and pipeline stay.
      await navigate({
        to: '.',
        search: (old: object) => ({ ...old, revision: undefined, compare: undefined, pins: 'yes' }),
        ignoreBlocker: true,
      } as never);
      await Promise.all(
        [
          ['template', template.id],
          ['revisions', template.id],
        ].map((queryKey) => queries.invalidateQueries({ queryKey })),
      );
    },
  });
  const faults: Record<string, string> = save.error === null ? {} : formErrors(save.error, 'config', ['change_summary']);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(theirs !== undefined);
      }}
    >
      <Stack gap="sm">
        {theirs === undefined ? (
          <ChangeList changes={changes} />
        ) : (
          <>
            <Alert color="yellow" title={`Revision ${theirs.revision_number} was saved while you worked`} role="alert">
              {theirs.change_summary === '' ? 'It has no summary.' : `“${theirs.change_summary}”`} Yours starts from revision{' '}
              {base.revision_number} and does not contain it. Theirs is on the left, yours on the right. Nothing of yours is lost: close
              this, and your draft is as it was.
            </Alert>
            <Suspense fallback={<Loading what="the comparison" />}>
              <SideBySide left={JSON.stringify(theirs.config, null, 2)} right={JSON.stringify(config, null, 2)} />
            </Suspense>
          </>
        )}
        <TextInput
          label="Summary"
          description="What changed, for whoever reads the history."
          data-autofocus
          value={summary}
          error={faults.change_summary}
          onChange={({ currentTarget }) => setSummary(currentTarget.value)}
        />
        {Object.keys(faults).some((field) => field !== 'change_summary') && (
          <Alert color="red" role="alert">
            {failureText(save.error)}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button type="submit" size="sm" loading={save.isPending}>
            {theirs === undefined ? `Save as revision ${known + 1}` : `Save mine as revision ${theirs.revision_number + 1} all the same`}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
