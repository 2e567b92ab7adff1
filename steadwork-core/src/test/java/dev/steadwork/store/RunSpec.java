package dev.steadwork.store;

import dev.steadwork.KeyPolicy;
import dev.steadwork.Payload;
import dev.steadwork.RetryPolicy;
import dev.steadwork.RunInfo;
import dev.steadwork.TriggerCheck;
import dev.steadwork.store.NewRun.Moment;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;

/** Says what is special about a run to be created; the rest is plain. */
final class RunSpec {
    private final String namespace;
    private final String type;
    private String queue;
    private String concurrencyKey;
    private Payload input = Payload.NONE;
    private int priority;
    private Moment start = Moment.NONE;
    private Moment deadline = Moment.NONE;
    private RetryPolicy retry;
    private String version;
    private String externalId;
    private String key;
    private KeyPolicy keyPolicy;
    private TriggerCheck check = TriggerCheck.ACCEPT;
    private final Map<String, String> tags = new TreeMap<>();
    private RunInfo.Parent parent;

    RunSpec(String namespace, String type) {
        this.namespace = namespace;
        this.type = type;
    }

    RunSpec queue(String name) {
        queue = name;
        return this;
    }

    RunSpec concurrencyKey(String key) {
        concurrencyKey = key;
        return this;
    }

    RunSpec input(Payload payload) {
        input = payload;
        return this;
    }

    RunSpec priority(int number) {
        priority = number;
        return this;
    }

    RunSpec startAt(Instant time) {
        start = new Moment(time, null);
        return this;
    }

    RunSpec startAfter(Duration delay) {
        start = new Moment(null, delay);
        return this;
    }

    RunSpec deadlineAt(Instant time) {
        deadline = new Moment(time, null);
        return this;
    }

    RunSpec deadlineAfter(Duration delay) {
        deadline = new Moment(null, delay);
        return this;
    }

    RunSpec retry(RetryPolicy policy) {
        retry = policy;
        return this;
    }

    RunSpec version(String name) {
        version = name;
        return this;
    }

    RunSpec externalId(String id) {
        externalId = id;
        return this;
    }

    RunSpec key(String name) {
        key = name;
        return this;
    }

    RunSpec keyPolicy(KeyPolicy policy) {
        keyPolicy = policy;
        return this;
    }

    RunSpec check(TriggerCheck demand) {
        check = demand;
        return this;
    }

    RunSpec tag(String name, String value) {
        tags.put(name, value);
        return this;
    }

    RunSpec parent(RunInfo.Parent run) {
        parent = run;
        return this;
    }

    NewRun build() {
        return new NewRun(
                RunIds.next(namespace, key),
                namespace,
                type,
                queue,
                concurrencyKey,
                input,
                priority,
                start,
                deadline,
                retry,
                version,
                externalId,
                key,
                keyPolicy,
                check,
                tags,
                parent);
    }
}
