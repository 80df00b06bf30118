import { Link } from '@tanstack/react-router';
import { Tag } from './tag.tsx';

/** A pipeline's name in a list. */
export function PipelineLink({ pipeline: { id, name, enabled } }: { pipeline: { id: string; name: string; enabled: boolean } }) {
  return (
    <>
      <Link to="/pipelines/$pipelineId" params={{ pipelineId: id }}>
        <b>{name}</b>
      </Link>{' '}
      {!enabled && <Tag tone="warn">disabled</Tag>}
    </>
  );
}
