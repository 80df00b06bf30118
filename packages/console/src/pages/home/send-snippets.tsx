/** How to send a first event: one sample order from this page, or a snippet with the real address and key. */
import { Button, Group, Tabs } from '@mantine/core';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, call } from '../../api.ts';
import { Json } from '../../components/json.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { failureText } from '../../forms.ts';
import { pipelineQuery } from '../../queries.ts';
import { SAMPLE_BODY } from '../../sample-event.ts';
import { snippets } from './snippets.ts';

export function SendSnippets({
  pipeline,
  chosen,
  isDone = false,
  onChoose,
}: {
  pipeline: { id: string; pipeline_key: string };
  /** The tab, from the address bar. */
  chosen: string | undefined;
  /** An event has come: another step is the next one. */
  isDone?: boolean;
  onChoose: (key: string) => void;
}) {
  const path = { id: pipeline.id };
  const collector = useQuery({
    queryKey: ['collector', pipeline.id],
    queryFn: () => call(api.GET('/v1/admin/pipelines/{id}/collector/status', { params: { path } })),
    refetchInterval: ({ state }) => (state.data?.status === 'building' ? 3_000 : false),
  });
  const tag = useQuery({
    queryKey: ['snippet', pipeline.id, collector.data?.version_hash],
    queryFn: () => call(api.GET('/v1/admin/pipelines/{id}/collector/snippet', { params: { path } })),
    // A finished build must not take the tabs away for a moment.
    placeholderData: keepPreviousData,
  });
  const full = useQuery(pipelineQuery(pipeline.id));
  if (full.isPending || tag.isPending) return <Loading what="the snippets" />;
  if (tag.isLoadingError) return <Failed error={tag.error} retry={() => void tag.refetch()} />;
  if (full.isLoadingError) return <Failed error={full.error} retry={() => void full.refetch()} />;
  const isBuilt = collector.data?.version_hash !== undefined;
  const texts = snippets({
    ingestUrl: tag.data.ingest_url,
    key: pipeline.pipeline_key,
    tag: isBuilt ? tag.data.snippet : undefined,
    globalVariable: full.data.js_builder_config.global_variable,
  });
  return (
    <>
      <SendSample pipeline={pipeline} isDone={isDone} />
      <Tabs
        value={texts.find(({ key }) => key === chosen)?.key ?? texts[0]?.key ?? ''}
        onChange={(next) => next !== null && onChoose(next)}
        keepMounted={false}
      >
        <Tabs.List aria-label="Ways to send an event">
          {texts.map(({ key, label }) => (
            <Tabs.Tab key={key} value={key}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {texts.map(({ key, label, text, note }) => (
          <Tabs.Panel key={key} value={key} pt="sm">
            {text === undefined && collector.isLoadingError ? (
              <Failed error={collector.error} retry={() => void collector.refetch()} />
            ) : text === undefined ? (
              <NotBuilt pipelineId={pipeline.id} status={collector.data?.status} error={collector.data?.error} />
            ) : (
              <Json value={text} label={`${label} snippet`} />
            )}
            {note && <p className="dim">{note}</p>}
          </Tabs.Panel>
        ))}
      </Tabs>
    </>
  );
}

/** A pipeline's script is built on demand: only some are for websites. */
function NotBuilt({ pipelineId, status, error }: { pipelineId: string; status: string | undefined; error: string | undefined }) {
  const queries = useQueryClient();
  const build = useMutation({
    mutationFn: () => call(api.POST('/v1/admin/pipelines/{id}/collector/build', { params: { path: { id: pipelineId } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['collector', pipelineId] }),
  });
  if (status !== 'no_builds') return <Loading what={status === 'building' ? 'the script: it is being built' : 'the script'} />;
  return (
    <Group gap="sm">
      <RoleButton needs="editor" onClick={() => build.mutate()} loading={build.isPending}>
        Build it
      </RoleButton>
      <span>{error === undefined ? 'The script of this pipeline is not built yet.' : `The last build failed: ${error}`}</span>
      {build.isError && <p role="alert">{failureText(build.error)}</p>}
    </Group>
  );
}

function SendSample({ pipeline, isDone }: { pipeline: { id: string; pipeline_key: string }; isDone: boolean }) {
  const send = useMutation({
    mutationFn: async () => {
      // Of a visitor who agreed to everything: vendors that need consent get it too.
      const context = { ...SAMPLE_BODY.context, consent: { categories: { analytics: true, marketing: true, advertising: true } } };
      const messageId = crypto.randomUUID?.() ?? `sample-${Date.now()}`;
      const answer = await fetch('/v1/t', {
        method: 'POST',
        headers: { authorization: `Bearer ${pipeline.pipeline_key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...SAMPLE_BODY, context, messageId }),
      });
      if (!answer.ok) throw new Error(`The collection endpoint answered ${answer.status}. Use a snippet with its own address.`);
      return messageId;
    },
  });
  return (
    <Group gap="xs" mb="sm">
      <Button onClick={() => send.mutate()} loading={send.isPending} variant={isDone ? 'default' : 'filled'}>
        Send a sample order from here
      </Button>
      {send.isSuccess ? (
        <span role="status">
          Sent.{' '}
          <Link to="/events" search={{ selected: send.data, selected_in: pipeline.id }}>
            See what happened to it
          </Link>
        </span>
      ) : (
        <span className="dim">or from where your events are:</span>
      )}
      {send.isError && <p role="alert">{failureText(send.error)}</p>}
    </Group>
  );
}
