/** What needs a person: each line says what is wrong and leads to its cause. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Message } from '../../components/message.tsx';
import { Failed, Outdated } from '../../components/states.tsx';
import { Tag, words } from '../../components/tag.tsx';
import { ago, number } from '../../format.ts';
import { usePipelineNames } from '../../names.ts';
import { type AttentionItem, attentionQuery } from '../../queries.ts';
import { countedSearch } from '../dead-letters/search.ts';
import classes from './attention.module.css';

export function Attention() {
  const query = useQuery(attentionQuery());
  const names = usePipelineNames(query.data?.items.flatMap(({ pipeline_id }) => pipeline_id ?? []) ?? []);
  if (query.isLoadingError) return <Failed error={query.error} retry={() => void query.refetch()} />;
  const items = query.data?.items ?? [];
  return (
    <section className={`panel ${classes.list}`} aria-label="Needs attention">
      <h2 className={classes.head}>
        Needs attention {items.length > 0 && <Tag tone={items.some(isCritical) ? 'bad' : 'warn'}>{number(items.length)}</Tag>}
      </h2>
      {query.isRefetchError && <Outdated what="What needs attention" error={query.error} retry={() => void query.refetch()} />}
      {query.isPending ? (
        <p className={classes.calm}>Checking …</p>
      ) : items.length === 0 ? (
        <p className={classes.calm}>Nothing. Every integration delivers and no pipeline is silent.</p>
      ) : (
        <ul>
          {items.map((item) => (
            <li key={`${item.kind} ${item.pipeline_id} ${item.integration_id ?? item.webhook_source_id} ${item.message}`}>
              <span className={classes.dot} data-critical={isCritical(item)} />
              <span className={classes.text}>
                <Message text={item.message} />{' '}
                <span className="dim">
                  {[
                    words(item.kind),
                    item.pipeline_id === null ? undefined : names.get(item.pipeline_id),
                    item.since === null ? undefined : `for ${ago(item.since).replace(' ago', '')}`,
                  ]
                    .filter((part) => part !== undefined)
                    .join(' · ')}
                </span>
              </span>
              <Cause item={item} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
const isCritical = ({ severity }: AttentionItem): boolean => severity === 'critical';

/** The page that shows the cause and offers the remedy. */
function Cause({ item: { kind, pipeline_id, integration_id, webhook_source_id } }: { item: AttentionItem }) {
  const integration = integration_id ?? undefined;
  const pipeline = pipeline_id ?? undefined;
  if (kind === 'dead_letters')
    return (
      <Link
        className={classes.go}
        to="/dead-letters"
        search={
          integration === undefined && pipeline !== undefined
            ? { pipeline, stage: 'processing', status: 'all', range: '24h' }
            : countedSearch({ ...(integration === undefined ? {} : { integration }) }, '24h')
        }
      >
        See the dead letters
      </Link>
    );
  if (kind === 'expiring_token')
    return (
      <Link className={classes.go} to="/team" search={{ tab: 'tokens' }}>
        See the API tokens
      </Link>
    );
  if (webhook_source_id)
    return (
      <Link className={classes.go} to="/sources" search={{ selected: webhook_source_id }}>
        Open the source
      </Link>
    );
  if (pipeline === undefined) return null;
  if (kind === 'backlog')
    return (
      <Link
        className={classes.go}
        to="/events"
        search={{ pipeline, delivery: 'waiting', ...(integration === undefined ? {} : { integration }) }}
      >
        See what waits
      </Link>
    );
  if (kind === 'silent')
    return (
      <Link className={classes.go} to="/events" search={{ pipeline }}>
        See its last events
      </Link>
    );
  if (kind === 'plan_violations')
    return (
      <Link className={classes.go} to="/pipelines/$pipelineId" params={{ pipelineId: pipeline }} search={{ tab: 'tracking-plan' }}>
        Open the tracking plan
      </Link>
    );
  return (
    <Link
      className={classes.go}
      to="/pipelines/$pipelineId"
      params={{ pipelineId: pipeline }}
      search={{ tab: 'integrations', ...(integration === undefined ? {} : { integration }) }}
    >
      Open the integration
    </Link>
  );
}
