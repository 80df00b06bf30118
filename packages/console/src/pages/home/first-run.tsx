/** An empty installation: three steps on one page, each ticking itself off as it happens. */
import { Button, Tabs, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { api, call } from '../../api.ts';
import { Json } from '../../components/json.tsx';
import { Page } from '../../components/page.tsx';
import { Tag } from '../../components/tag.tsx';
import { fieldErrors } from '../../forms.ts';
import { useLiveFrames } from '../../live/use-live.ts';
import { useMay } from '../../session/use-session.ts';
import classes from './first-run.module.css';
import { snippets } from './snippets.ts';

interface Made {
  id: string;
  name: string;
  pipeline_key: string;
}

export function FirstRun() {
  const [pipeline, setPipeline] = useState<Made>();
  const [first, setFirst] = useState<{ event_id: string; name: string }>();
  useLiveFrames((frame) => {
    if (first === undefined && pipeline !== undefined && frame.pipeline_id === pipeline.id && frame.event_id !== null)
      setFirst({ event_id: frame.event_id, name: frame.event ?? frame.type ?? 'event' });
  });
  return (
    <Page title="Welcome to Firsthand" about="Three steps to your first delivered event.">
      <Step number={1} title="Create a pipeline" done={pipeline !== undefined}>
        {pipeline === undefined ? (
          <CreatePipeline onMade={setPipeline} />
        ) : (
          <p className="dim">“{pipeline.name}” is ready to accept events.</p>
        )}
      </Step>
      <Step number={2} title="Send it an event" done={first !== undefined}>
        {pipeline === undefined ? (
          <p className="dim">The snippet appears here once there is a pipeline.</p>
        ) : (
          <Install pipeline={pipeline} />
        )}
        {pipeline !== undefined && first === undefined && <p role="status">Waiting for the first event …</p>}
        {first !== undefined && (
          <p role="status">
            Received: <Link to="/events" search={{ selected: first.event_id }}>{`${first.name} (${first.event_id})`}</Link>
          </p>
        )}
      </Step>
      <Step number={3} title="Connect an integration" done={false}>
        <p className="dim">Choose where the events go: a vendor of the catalog, a webhook of yours, or any HTTP API.</p>
        <Button component={Link} to="/catalog" variant={first === undefined ? 'default' : 'filled'}>
          Open the catalog
        </Button>
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

function CreatePipeline({ onMade }: { onMade: (pipeline: Made) => void }) {
  const queries = useQueryClient();
  const may = useMay('editor');
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name.trim() === '' ? 'Give the pipeline a name.' : null) },
  });
  const create = useMutation({
    mutationFn: (name: string) => call(api.POST('/v1/admin/pipelines', { body: { name } })),
    onSuccess: (made) => onMade(made),
    onError: (error) => form.setErrors(fieldErrors(error, 'name')),
    onSettled: () => queries.invalidateQueries({ queryKey: ['pipelines'], refetchType: 'none' }),
  });
  return (
    <form className={classes.form} onSubmit={form.onSubmit(({ name }) => create.mutate(name.trim()))}>
      <TextInput aria-label="Name of the pipeline" placeholder="Web shop" w={260} autoFocus {...form.getInputProps('name')} />
      <Button type="submit" size="sm" loading={create.isPending} disabled={!may} title={may ? undefined : 'Needs the role editor'}>
        Create pipeline
      </Button>
    </form>
  );
}

function Install({ pipeline }: { pipeline: Made }) {
  const collector = useQuery({
    queryKey: ['collector', pipeline.id],
    queryFn: () => call(api.GET('/v1/admin/pipelines/{id}/collector/status', { params: { path: { id: pipeline.id } } })),
  });
  const texts = snippets(location.origin, pipeline.pipeline_key, collector.data?.status === 'ready');
  return (
    <Tabs defaultValue={texts[0]?.key ?? ''} keepMounted={false}>
      <Tabs.List>
        {texts.map(({ key, label }) => (
          <Tabs.Tab key={key} value={key}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {texts.map(({ key, label, text, note }) => (
        <Tabs.Panel key={key} value={key} pt="sm">
          <Json value={text} label={`${label} snippet`} />
          {note && <p className="dim">{note}</p>}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
