/** An installation that is not set up yet: three steps on one page, each ticking itself off as it happens. */
import { Button, Group, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, call } from '../../api.ts';
import { LinkButton } from '../../components/link-button.tsx';
import { Page } from '../../components/page.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Tag, words } from '../../components/tag.tsx';
import { formErrors } from '../../forms.ts';
import { pipelinesQuery } from '../../queries.ts';
import classes from './first-run.module.css';
import { SendSnippets } from './send-snippets.tsx';
import { isComplete, NOTHING_YET, type Setup, setupQuery } from './setup.ts';

interface Made {
  id: string;
  name: string;
  pipeline_key: string;
}

export function FirstRun({ pipeline, setup, onLeave }: { pipeline: Made | undefined; setup: Setup; onLeave: () => void }) {
  const { first, rejected, integrations } = setup;
  const { snippet } = useSearch({ strict: false }) as { snippet?: string };
  const navigate = useNavigate();
  const chooseSnippet = (next: string) =>
    void navigate({ to: '.', search: (old: object) => ({ ...old, snippet: next }), replace: true } as never);
  return (
    <Page
      title="Welcome to Firsthand"
      about="Three steps to your first delivered event."
      actions={
        pipeline !== undefined && (
          <Button variant="default" onClick={onLeave}>
            {isComplete(setup) ? 'Go to Home' : 'Skip the rest'}
          </Button>
        )
      }
    >
      <Step number={1} title="Create a pipeline" done={pipeline !== undefined}>
        {pipeline === undefined ? <CreatePipeline /> : <p className="dim">“{pipeline.name}” is ready to accept events.</p>}
      </Step>
      <Step number={2} title="Send it an event" done={first !== undefined}>
        {pipeline === undefined ? (
          <p className="dim">The snippet appears here once there is a pipeline.</p>
        ) : (
          <SendSnippets pipeline={pipeline} chosen={snippet} isDone={first !== undefined} onChoose={chooseSnippet} />
        )}
        <p role="status">
          {first !== undefined ? (
            <>
              Received: <Link to="/events" search={{ selected: first.event_id }}>{`${first.name} (${first.event_id})`}</Link>
            </>
          ) : rejected !== undefined ? (
            <>
              <Tag tone="bad">rejected</Tag> An event arrived and was rejected: {words(rejected.reason)}.{' '}
              <Link to="/events" search={{ status: 'rejected', selected: rejected.event_id }}>
                See why
              </Link>
            </>
          ) : (
            pipeline !== undefined && 'Waiting for the first event …'
          )}
        </p>
      </Step>
      <Step number={3} title="Connect an integration" done={integrations > 0}>
        <p className="dim">
          {integrations === 0
            ? 'Choose where the events go: a vendor of the catalog, a webhook of yours, or any HTTP API.'
            : 'It gets the events that arrive from now on: send another one above, and see it delivered.'}
        </p>
        <Group gap="xs">
          <LinkButton to="/catalog" variant={first === undefined || integrations > 0 ? 'default' : 'filled'}>
            Open the catalog
          </LinkButton>
          {pipeline !== undefined && integrations > 0 && (
            <Link to="/pipelines/$pipelineId" params={{ pipelineId: pipeline.id }}>
              See the pipeline
            </Link>
          )}
        </Group>
      </Step>
    </Page>
  );
}

function Step({ number, title, done, children }: { number: number; title: string; done: boolean; children: ReactNode }) {
  return (
    <section className={`panel ${classes.step}`} aria-label={title}>
      <span className={classes.number} data-done={done} aria-hidden>
        {done ? '✓' : number}
      </span>
      <div className={classes.body}>
        <h2 className={classes.title}>
          {title} {done && <Tag tone="ok">done</Tag>}
        </h2>
        {children}
      </div>
    </section>
  );
}

function CreatePipeline() {
  const queries = useQueryClient();
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name.trim() === '' ? 'Give the pipeline a name.' : null) },
  });
  const create = useMutation({
    mutationFn: async (name: string) => {
      const made = await call(api.POST('/v1/admin/pipelines', { body: { name } }));
      // The website's script: built now, so that the snippet of the next step works as it is.
      await call(api.POST('/v1/admin/pipelines/{id}/collector/build', { params: { path: { id: made.id } } }));
      return made;
    },
    onSuccess: async ({ id }) => {
      queries.setQueryData(setupQuery(id).queryKey, NOTHING_YET);
      await queries.invalidateQueries({ queryKey: pipelinesQuery().queryKey });
    },
    onError: async (error) => {
      form.setErrors(formErrors(error, 'name', Object.keys(form.values)));
      // The pipeline may exist although its script could not be queued.
      await queries.invalidateQueries({ queryKey: pipelinesQuery().queryKey });
    },
  });
  return (
    <form className={classes.form} onSubmit={form.onSubmit(({ name }) => create.mutate(name.trim()))}>
      <TextInput aria-label="Name of the pipeline" placeholder="Web shop" w={260} autoFocus {...form.getInputProps('name')} />
      <RoleButton needs="editor" type="submit" size="sm" loading={create.isPending}>
        Create pipeline
      </RoleButton>
    </form>
  );
}
