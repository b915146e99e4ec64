// A member of a group by sarama: group BOOTSTRAP TOPIC GROUP STRATEGY [INSTANCE]. Reads until SIGTERM, and prints what happens as lines of JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/IBM/sarama"
)

type member struct {
	mutex sync.Mutex
	topic string
}

func (m *member) tell(line any) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	encoded, err := json.Marshal(line)
	if err != nil {
		log.Fatalln(err)
	}
	fmt.Println(string(encoded))
}

func (m *member) Setup(session sarama.ConsumerGroupSession) error {
	m.tell(map[string]any{"name": "assignment", "partitions": append([]int32{}, session.Claims()[m.topic]...)})
	return nil
}

func (m *member) Cleanup(sarama.ConsumerGroupSession) error {
	m.tell(map[string]any{"name": "assignment", "partitions": []int32{}})
	return nil
}

func (m *member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			m.tell(map[string]any{"name": "record_data", "partition": message.Partition, "offset": message.Offset, "value": string(message.Value)})
			session.MarkMessage(message, "")
		case <-session.Context().Done():
			return nil
		}
	}
}

func main() {
	strategies := map[string]sarama.BalanceStrategy{
		"range":      sarama.NewBalanceStrategyRange(),
		"roundrobin": sarama.NewBalanceStrategyRoundRobin(),
		"sticky":     sarama.NewBalanceStrategySticky(),
	}
	config := sarama.NewConfig()
	config.Version = sarama.V2_8_0_0
	config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategies[os.Args[4]]}
	config.Consumer.Group.Session.Timeout = 6 * time.Second
	config.Consumer.Group.Heartbeat.Interval = 300 * time.Millisecond
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Interval = 200 * time.Millisecond
	config.Consumer.MaxWaitTime = 100 * time.Millisecond
	if len(os.Args) > 5 {
		config.Consumer.Group.InstanceId = os.Args[5]
	}
	group, err := sarama.NewConsumerGroup(strings.Split(os.Args[1], ","), os.Args[3], config)
	if err != nil {
		log.Fatalln(err)
	}
	ending, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	reader := &member{topic: os.Args[2]}
	for ending.Err() == nil {
		if err := group.Consume(ending, []string{os.Args[2]}, reader); err != nil {
			log.Println(err)
			time.Sleep(100 * time.Millisecond)
		}
	}
	if err := group.Close(); err != nil {
		log.Println(err)
	}
}
