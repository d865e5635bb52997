package io.erda.simulation.system;

import io.erda.client.ClientOptions;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.simulation.NetworkModel;
import io.erda.simulation.PersistenceDomain;
import java.util.Set;

/**
 * Makes a {@link Configuration} by the names of its components. Components that are not set are
 * those of the configuration that it began with, or defaults.
 */
final class ConfigurationBuilder {
  private static final int DRAIN_FAILED_ODDS = 8;
  private static final int EMBEDDED_ODDS = 4;

  private PersistenceDomain domain;
  private NetworkModel network;
  private StoreGeometry store;
  private int diskRegions;
  private boolean doubles;
  private ServiceOptions service;
  private ClientOptions client;
  private int clients;
  private int readersPercent;
  private int keys;
  private boolean twins;
  private int keyBytesMax;
  private int valueBytesMax;
  private int operations;
  private int pipeline;
  private OperationMix mix;
  private long faultGapNs;
  private long stepNs;
  private long idleNs;
  private long drainNsMax;
  private int drainFailedOdds = DRAIN_FAILED_ODDS;
  private int embeddedOdds = EMBEDDED_ODDS;
  private boolean clientsCommit;
  private Set<Fault> faults;

  ConfigurationBuilder() {}

  ConfigurationBuilder(Configuration other) {
    domain = other.domain();
    network = other.network();
    store = other.store();
    diskRegions = other.diskRegions();
    doubles = other.doubles();
    service = other.service();
    client = other.client();
    clients = other.clients();
    readersPercent = other.readersPercent();
    keys = other.keys();
    twins = other.twins();
    keyBytesMax = other.keyBytesMax();
    valueBytesMax = other.valueBytesMax();
    operations = other.operations();
    pipeline = other.pipeline();
    mix = other.mix();
    faultGapNs = other.faultGapNs();
    stepNs = other.stepNs();
    idleNs = other.idleNs();
    drainNsMax = other.drainNsMax();
    drainFailedOdds = other.drainFailedOdds();
    embeddedOdds = other.embeddedOdds();
    clientsCommit = other.clientsCommit();
    faults = other.faults();
  }

  ConfigurationBuilder domain(PersistenceDomain value) {
    domain = value;
    return this;
  }

  ConfigurationBuilder network(NetworkModel value) {
    network = value;
    return this;
  }

  ConfigurationBuilder store(StoreGeometry value) {
    store = value;
    return this;
  }

  ConfigurationBuilder diskRegions(int value) {
    diskRegions = value;
    return this;
  }

  ConfigurationBuilder doubles(boolean value) {
    doubles = value;
    return this;
  }

  ConfigurationBuilder service(ServiceOptions value) {
    service = value;
    return this;
  }

  ConfigurationBuilder client(ClientOptions value) {
    client = value;
    return this;
  }

  ConfigurationBuilder clients(int value) {
    clients = value;
    return this;
  }

  ConfigurationBuilder readersPercent(int value) {
    readersPercent = value;
    return this;
  }

  ConfigurationBuilder keys(int value) {
    keys = value;
    return this;
  }

  ConfigurationBuilder twins(boolean value) {
    twins = value;
    return this;
  }

  ConfigurationBuilder keyBytesMax(int value) {
    keyBytesMax = value;
    return this;
  }

  ConfigurationBuilder valueBytesMax(int value) {
    valueBytesMax = value;
    return this;
  }

  ConfigurationBuilder operations(int value) {
    operations = value;
    return this;
  }

  ConfigurationBuilder pipeline(int value) {
    pipeline = value;
    return this;
  }

  ConfigurationBuilder mix(OperationMix value) {
    mix = value;
    return this;
  }

  ConfigurationBuilder faultGapNs(long value) {
    faultGapNs = value;
    return this;
  }

  ConfigurationBuilder stepNs(long value) {
    stepNs = value;
    return this;
  }

  ConfigurationBuilder idleNs(long value) {
    idleNs = value;
    return this;
  }

  ConfigurationBuilder embeddedOdds(int value) {
    embeddedOdds = value;
    return this;
  }

  ConfigurationBuilder clientsCommit(boolean value) {
    clientsCommit = value;
    return this;
  }

  ConfigurationBuilder drainFailedOdds(int value) {
    drainFailedOdds = value;
    return this;
  }

  ConfigurationBuilder drainNsMax(long value) {
    drainNsMax = value;
    return this;
  }

  ConfigurationBuilder faults(Set<Fault> value) {
    faults = value;
    return this;
  }

  Configuration build() {
    return new Configuration(
        domain,
        network,
        store,
        diskRegions,
        doubles,
        service,
        client,
        clients,
        readersPercent,
        keys,
        twins,
        keyBytesMax,
        valueBytesMax,
        operations,
        pipeline,
        mix,
        faultGapNs,
        stepNs,
        idleNs,
        drainNsMax,
        drainFailedOdds,
        embeddedOdds,
        clientsCommit,
        faults);
  }
}
